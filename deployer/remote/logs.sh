#!/bin/sh
# SPDX-License-Identifier: MIT
# The last lines of a container's log without its sshd's talk about logins that went well: logs.sh LOGS_LINE N. LOGS_LINE is the
# engine record's words, which ringup has quoted. What stays of sshd are its errors and keys that it refuses ("Connection
# closed by authenticating user"). Ends with the status of LOGS_LINE. Source of the lines: OpenSSH 7.2 to 10, auth.c, packet.c, session.c.
line=$1 count=$2
talk='^(Accepted [a-z-]+ for |Accepted key [A-Z0-9-]+ |Postponed publickey for |Received disconnect from |Disconnected from (user [^ ]+ )?[0-9a-fA-F.:]+ port '
talk="$talk"'|Connection (from|closed by|reset by) [0-9a-fA-F.:]+ port |Starting session: |Close session: |User child is on pid '
talk="$talk"'|Transferred: sent |pam_unix\(sshd:session\): session )'
exec 5>&1
# 3 is its standard output, 4 its status, 5 this script's standard output
status=$({
	{
		{
			sh -c "$line" 2>&1 >&3 3>&- 4>&- 5>&-
			echo $? >&4
		} | grep -Ev "$talk" | tail -n "$count" >&2
	} 3>&1 | tail -n "$count" >&5
} 4>&1)
exit "${status:-1}"
