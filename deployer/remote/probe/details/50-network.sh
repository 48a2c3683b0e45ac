# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# The network beside the cluster address: MTU, other networks, names, proxies, firewalls, ports.
[ -n "$interface" ] && say interface_mtu "$(ip -o link show dev "$interface" 2>/dev/null | sed -n 's/.* mtu \([0-9][0-9]*\).*/\1/p')"
# Networks of every interface, "docker0 172.17.0.1/16": whether one lies over another.
say networks "$(ip -o -4 addr show 2>/dev/null | awk '$2 != "lo" {print $2 " " $4}' | joined)"
say default_route "$(ip -o route show default 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p' | sort -u | joined)"
if own=$(within 3 getent ahosts "$(hostname 2>/dev/null)"); then
	say own_name "$(printf '%s\n' "$own" | awk '{print $1}' | sort -u | joined)"
elif [ $? = 124 ]; then
	say names_silent_s 3
fi
say nameservers "$(sed -n 's/^nameserver[[:blank:]]*//p' "$root/etc/resolv.conf" 2>/dev/null | joined)"
say_setting ip_forward net/ipv4/ip_forward
say_setting rp_filter net/ipv4/conf/all/rp_filter
say_setting somaxconn net/core/somaxconn
say_setting local_ports net/ipv4/ip_local_port_range

# Proxies of the system, without the passwords that stand in them.
proxy_of() {
	for file in "$root/etc/environment" "$root/etc/systemd/system/docker.service.d"/*.conf "$root/etc/profile.d"/*.sh; do
		[ -r "$file" ] && sed -n 's/.*\('"$1"'\)=["'\'']\{0,1\}\([^"'\'' ]*\).*/\2/p' "$file"
	done | sed 's,//[^/@]*@,//,' | sort -u | joined
}
say proxy "$(proxy_of '[hH][tT][tT][pP][sS]\{0,1\}_[pP][rR][oO][xX][yY]')"
say no_proxy "$(proxy_of '[nN][oO]_[pP][rR][oO][xX][yY]')"

# What may drop packets between hosts.
firewalls() {
	if have firewall-cmd && [ "$(firewall-cmd --state 2>/dev/null)" = running ]; then echo firewalld; fi
	if have ufw && ufw status 2>/dev/null | grep -q '^Status: active'; then echo ufw; fi
	if have iptables && iptables -S INPUT 2>/dev/null | grep -qE '^-P INPUT DROP|-j (DROP|REJECT)'; then echo iptables; fi
	if have nft && nft list ruleset 2>/dev/null | awk '/hook input/ {input = 1} input && /policy drop|(drop|reject)$/ {found = 1} /^\t}/ {input = 0} END {exit !found}'; then echo nftables; fi
}
say firewalls "$(firewalls | joined)"
# Ports that somebody listens on, without those of loopback: "22;9435".
say listening "$( (ss -Htln 2>/dev/null || netstat -tln 2>/dev/null) | awk '
	{for (i = 1; i <= NF; i++) if ($i ~ /:[0-9]+$/) {
		port = $i; sub(/.*:/, "", port); from = $i; sub(/:[0-9]+$/, "", from)
		if (from !~ /^127\./ && from !~ /^\[?::1\]?$/) print port
		break}}' | sort -nu | head -n 200 | joined)"
