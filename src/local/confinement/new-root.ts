/**
 * The shell program that `unshare` runs as root of new namespaces. It builds a root folder with what the program may
 * see, pivots to it, and drops all capabilities before the program starts. Any failure ends it before that.
 *
 * Arguments: folder for the new root, working folder, folder for temporary files, user, group, pairs of
 * `ro|dev|dir|file` and a path, `--`, the program's command line.
 */
export const NEW_ROOT = `
set -eu
callers=$PATH PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin
root=$1 work=$2 tmp=$3 user=$4 group=$5
shift 5
point() {
  if [ -d "$1" ]; then mkdir -p "$root$2"; return; fi
  mkdir -p "$root\${2%/*}"
  [ -e "$root$2" ] || : > "$root$2"
}
mount -t tmpfs -o mode=755,size=16m tmpfs "$root"
mkdir -p "$root/proc" "$root/tmp" "$root/dev/shm" "$root/.old"
mount --bind "$tmp" "$root/tmp"
while [ "$1" != -- ]; do
  case $1 in
    ro|dev) point "$2" "$2"; mount --rbind "$2" "$root$2" ;;
    dir) mount -t tmpfs -o mode=755,size=64k tmpfs "$root$2" ;;
    file) mount --bind /dev/null "$root$2" ;;
  esac
  shift 2
done
shift
for node in null zero full random urandom; do
  point /dev/null /dev/$node
  mount --bind /dev/$node "$root/dev/$node"
done
for link in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -s /proc/self/\${link#*:} "$root/dev/\${link%%:*}"; done
mkdir -p "$root$work"
while read -r _ _ _ _ at _; do
  at=$(printf %b "$at")
  case $at in "$root/tmp") ;; "$root"/*) mount -o remount,bind,ro "$at" ;; esac
done < /proc/self/mountinfo
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount --bind "$tmp" "$root/dev/shm"
mount --bind "$work" "$root$work"
cd "$root"
pivot_root . .old
umount -l .old
mount -o remount,bind,ro /
cd "$work"
unset OLDPWD
exec unshare --user --map-user="$user" --map-group="$group" --keep-caps -- \\
  setpriv --no-new-privs --ambient-caps=-all --inh-caps=-all --bounding-set=-all -- \\
  sh -c 'PATH=$1; shift; "$@"; exit $?' sh "$callers" "$@"
`
