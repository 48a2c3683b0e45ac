# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Package managers: what they may replace, and where they get it from.
for manager in apt-get dnf yum zypper apk; do
	if have $manager; then
		say package_manager ${manager%-get}
		break
	fi
done
# By their files, since apt and gpg take seconds to answer.
if [ "$(sed -n 's/^[[:blank:]]*APT::Periodic::Unattended-Upgrade[[:blank:]]*"\(.*\)".*/\1/p' "$root"/etc/apt/apt.conf.d/* 2>/dev/null | tail -n 1)" = 1 ]; then
	[ ! -x "$root/usr/bin/unattended-upgrade" ] || say automatic_updates unattended-upgrades
elif [ -e "$root/etc/systemd/system/timers.target.wants/dnf-automatic.timer" ] || [ -e "$root/etc/systemd/system/timers.target.wants/dnf-automatic-install.timer" ]; then
	say automatic_updates dnf-automatic
fi
# dpkg_packages STATUS PATTERN: "nvidia-driver-535 535.183.01-0ubuntu1", a line each.
dpkg_packages() {
	awk -v wanted="$1" -v pattern="$2" '
		/^Package: / {name = $2}
		/^Status: / {status = $2}
		/^Version: / {if (status == wanted && name ~ pattern) print name " " $2}' "$root/var/lib/dpkg/status" 2>/dev/null
}
say held_packages "$(dpkg_packages hold . | cut -d' ' -f1 | joined)"
driver_pattern='^(nvidia-driver|nvidia-fabricmanager|nvidia-kernel-|kmod-nvidia|nvidia-fabric)'
if [ -e "$root/var/lib/dpkg/status" ]; then
	say driver_packages "$( (dpkg_packages install "$driver_pattern"; dpkg_packages hold "$driver_pattern") | sort | joined)"
elif have rpm; then
	say driver_packages "$(rpm -qa --qf '%{NAME} %{VERSION}-%{RELEASE}\n' 'nvidia-driver*' 'kmod-nvidia*' 'nvidia-fabric*' 2>/dev/null | sort | joined)"
fi
apt_sources() {
	cat "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/*.list "$root"/etc/apt/sources.list.d/*.sources 2>/dev/null
}
say apt_sources "$(apt_sources | sed -n 's/^deb[^#]*[[:blank:]]\(https\{0,1\}:[^ ]*\) \([^ ]*\).*/\1 \2/p; s/^URIs: *\(.*\)/\1/p' | sed 's,//[^/@]*@,//,' | sort -u | joined)"
say yum_repositories "$(sed -n 's/^\(baseurl\|mirrorlist\|metalink\)[[:blank:]]*=[[:blank:]]*//p' "$root"/etc/yum.repos.d/*.repo "$root"/etc/zypp/repos.d/*.repo 2>/dev/null | sed 's,//[^/@]*@,//,' | sort -u | joined)"
# The key that NVIDIA replaced on 2022-04-27 ends in 7FA2AF80. Its signatures hold these four bytes.
old_key=$(printf '\177\242\257\200')
for file in "$root/etc/apt/trusted.gpg" "$root"/etc/apt/trusted.gpg.d/*.gpg; do
	[ -r "$file" ] && LC_ALL=C grep -q "$old_key" "$file" && say old_nvidia_key yes && break
done
say docker_from "$(case $(command -v docker) in
	*/snap/*) echo snap ;;
	/usr/bin/docker) [ -L /usr/bin/docker ] && readlink /usr/bin/docker | sed -n 's/.*podman.*/podman/p' ;;
esac)"
# Headers of the running kernel, without which DKMS cannot build the driver's module for it.
if [ -d "$root/lib/modules/$(uname -r)/build" ]; then say kernel_headers yes; else say kernel_headers no; fi
say dkms "$(dkms status 2>/dev/null | grep -i '^nvidia' | joined)"
