import { readFileSync, realpathSync, statfsSync } from 'node:fs'
import { posix } from 'node:path'

/** A part of a folder on a file system that does not report changes by other machines. */
export interface SilentDisk {
  /** relative to the folder, with `/`; empty for the folder itself */
  path: string
  /** common name of the file system: `NFS`, `WSL drive` */
  kind: string
}

/** Kinds by the type in the mount table. */
const KIND_BY_TYPE: Readonly<Record<string, string>> = {
  nfs: 'NFS',
  nfs4: 'NFS',
  cifs: 'SMB',
  smb3: 'SMB',
  smbfs: 'SMB',
  '9p': '9p',
  virtiofs: 'virtiofs',
  ceph: 'Ceph',
  afs: 'AFS',
  coda: 'Coda',
  lustre: 'Lustre',
  gpfs: 'GPFS',
  beegfs: 'BeeGFS',
  orangefs: 'OrangeFS',
  ocfs2: 'OCFS2',
  gfs2: 'GFS2',
  ncpfs: 'NCP',
  drvfs: 'WSL drive',
  wslfs: 'WSL drive',
  // Folders of the host in a virtual machine and in its containers.
  vboxsf: 'VirtualBox folder',
  prl_fs: 'Parallels folder',
  vmhgfs: 'VMware folder',
  fakeowner: 'container mount',
  osxfs: 'container mount',
  grpcfuse: 'container mount',
  'fuse.osxfs': 'container mount',
  'fuse.grpcfuse': 'container mount',
  fuse: 'FUSE',
}

/** FUSE file systems that only this machine changes: a local disk, or the root of a container. */
const LOCAL_FUSE_TYPES = ['fuseblk', 'fuse.fuse-overlayfs', 'fuse.lxcfs']

/** Kinds by the magic number of statfs(2), for when the mount table cannot be read. */
const KIND_BY_MAGIC: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'SMB',
  4266872130: 'SMB',
  16914839: '9p',
  1702057286: 'FUSE',
  12805120: 'Ceph',
  1397113167: 'AFS',
  1799439955: 'AFS',
  1937076805: 'Coda',
  198183888: 'Lustre',
  1196443219: 'GPFS',
  428016422: 'BeeGFS',
  537068840: 'OrangeFS',
  1952539503: 'OCFS2',
  18225520: 'GFS2',
  22092: 'NCP',
  1397114950: 'WSL drive',
  2020557398: 'VirtualBox folder',
  2088527475: 'Parallels folder',
  3133910204: 'VMware folder',
}

/**
 * The parts of a folder on silent disks: the folder itself, or mounts below it. None on systems other than Linux, whose
 * mount table is read.
 */
export function findSilentDisks(folder: string): SilentDisk[] {
  if (process.platform !== 'linux') return []
  try {
    return findSilentMounts(readFileSync('/proc/self/mountinfo', 'utf8'), realpathSync(folder))
  } catch {
    return findByMagic(folder)
  }
}

/** @param table in the format of `mountinfo` in proc(5) @param folder real path */
export function findSilentMounts(table: string, folder: string): SilentDisk[] {
  const mounts = parseMounts(table)
  const mountPoint = listAncestors(folder).find((path) => mounts.has(path))
  const ownKind = mountPoint === undefined ? undefined : mounts.get(mountPoint)
  const mountsBelow = [...mounts].flatMap(([path, kind]): SilentDisk[] =>
    kind !== undefined && isBelow(path, folder) ? [{ path: posix.relative(folder, path), kind }] : [],
  )
  return ownKind === undefined ? mountsBelow : [{ path: '', kind: ownKind }]
}

/** Mounts by path; of several mounts on one path the last one is visible. */
function parseMounts(table: string): Map<string, string | undefined> {
  const mounts = new Map<string, string | undefined>()
  for (const line of table.split('\n')) {
    const [location = '', mount = ''] = line.split(' - ')
    const path = location.split(' ')[4]
    const [type = '', , options = ''] = mount.split(' ')
    if (path !== undefined) mounts.set(unescapeOctal(path), getKind(type, options))
  }
  return mounts
}

function getKind(type: string, options: string): string | undefined {
  if (LOCAL_FUSE_TYPES.includes(type)) return undefined
  if (/(^|[,;])aname=drvfs\b/.test(options)) return 'WSL drive'
  if (Object.hasOwn(KIND_BY_TYPE, type)) return KIND_BY_TYPE[type]
  return type.startsWith('fuse.') ? `FUSE (${type.slice('fuse.'.length)})` : undefined
}

/** Spaces and some other characters are octal numbers: `\040`. */
function unescapeOctal(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

function listAncestors(path: string): string[] {
  return path === '/' ? ['/'] : [path, ...listAncestors(posix.dirname(path))]
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

function findByMagic(folder: string): SilentDisk[] {
  try {
    const kind = KIND_BY_MAGIC[statfsSync(folder).type >>> 0]
    return kind === undefined ? [] : [{ path: '', kind }]
  } catch {
    return [] // the scan reports a folder that is gone
  }
}
