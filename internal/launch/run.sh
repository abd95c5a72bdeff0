{ # A shell reads all of this before it does any of it. It becomes calib, which it copies from its input where it is not there yet.
set -f
umask 077
n="@NAME@" h=@HASH@ e=@EXE@ me=$(id -u) t=
say() { echo "calib-launch $n$*"; }
fail() { test -z "$t" || rm -f "$t"; say fail "$1"; exit 3; }
hash() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
same() { test -x "$1" && s=$(hash <"$1") && test "${s%% *}" = "$h"; }
look() { set -- $(ls -ldn -- "$1" 2>/dev/null); mode=${1-} user=${3-}; }
# alone: nobody but root and this user can change the file or directory. In a sticky directory nobody can move what is another's.
alone() {
	look "$1"
	case $mode in d????????[tT]*) ;; ''|l*|?????w*|????????w*) return 1 ;; esac
	test "$user" = 0 || test "$user" = "$me"
}
# safe: nobody but root and this user can change the file, or any directory above it, so that its name q goes on meaning that file.
safe() {
	p=$(cd -P "${1%/*}/" 2>/dev/null && pwd -P) || return 1
	q=${p%/}/${1##*/} p=${p%/}/${1##*/}
	while alone "${p:-/}"; do test -n "$p" || return 0; p=${p%/*}; done
	return 1
}
{ command -v sha256sum || command -v shasum; } >/dev/null || { echo "no sha256sum or shasum" >&2; fail tools; }
if test -n "$e" && safe "$e" && same "$q"; then
	f=$q
else
	# From here on calib's directory is the working directory: whoever can rename a directory above it cannot exchange it.
	d=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/calib
	mkdir -p "$d" && test ! -L "$d" && cd -P "$d" || { ls -ldn "$d" >&2; fail cache; }
	look .
	case $mode,$user in drwx--[-S]---*,"$me") ;; *) ls -ldn "$d" >&2; fail private ;; esac
	f=./calib-$h
	touch -c "$f" 2>/dev/null # so that no other build removes it, as one of long ago, before it is executed
fi
if same "$f"; then have=have; else have=need; fi
say $have
read -r todo || exit 3
case $todo,$have in
copy,have) head -c @SIZE@ >/dev/null ;;
copy,need)
	command -v gzip >/dev/null || { echo "no gzip" >&2; fail tools; }
	t=./.tmp.@NONCE@.$(uname -n).$$
	head -c @SIZE@ | gzip -dc >"$t" && chmod 700 "$t" || fail write
	test -x "$t" || fail noexec
	same "$t" || fail hash
	# Where hosts share a home, the first copy stays: others execute it.
	ln "$t" "$f" 2>/dev/null || same "$f" || mv -f "$t" "$f" || fail write
	rm -f "$t"
	t=
	find . -type f -mtime +30 -exec rm -f {} + # builds of long ago, and what was cut off
	;;
esac
@STREAM@
say ready
exec "$f" @ARGS@
}
