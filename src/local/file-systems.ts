import { readFileSync, realpathSync, statfsSync } from 'node:fs'
import { posix } from 'node:path'

/** A part of a folder whose file system tells nobody of changes that another machine makes. */
export interface SilentDisk {
  /** from the folder with `/`, `` for the folder itself */
  path: string
  /** what people call the file system: `NFS`, `WSL drive` */
  kind: string
}

/** Kinds by the type that the table of mounts gives. */
const BY_NAME: Readonly<Record<string, string>> = {
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
  // folders of the host in a virtual machine, and in the containers of one
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

/** Of the FUSE family, what only this machine changes: a disk of its own, or the root of a container. */
const TELLING_FUSE = ['fuseblk', 'fuse.fuse-overlayfs', 'fuse.lxcfs']

/** Kinds by the magic number of statfs(2), for where the table of mounts cannot be read. */
const BY_MAGIC: Readonly<Record<number, string>> = {
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
 * The parts of a folder that lie on a silent disk: the folder itself, or what is mounted below it. Nothing elsewhere than
 * on Linux, whose table of mounts is read.
 */
export function silentDisks(folder: string): SilentDisk[] {
  if (process.platform !== 'linux') return []
  try {
    return silentMounts(readFileSync('/proc/self/mountinfo', 'utf8'), realpathSync(folder))
  } catch {
    return byMagic(folder)
  }
}

/** @param table as proc(5) describes `mountinfo` @param folder real path */
export function silentMounts(table: string, folder: string): SilentDisk[] {
  const mounts = mountsOf(table)
  const above = ancestry(folder).find((path) => mounts.has(path))
  const own = above === undefined ? undefined : mounts.get(above)
  const below = [...mounts].flatMap(([path, kind]): SilentDisk[] =>
    kind !== undefined && isBelow(path, folder) ? [{ path: posix.relative(folder, path), kind }] : [],
  )
  return own === undefined ? below : [{ path: '', kind: own }]
}

/** What is mounted where; of several mounts over one another the last one is seen. */
function mountsOf(table: string): Map<string, string | undefined> {
  const mounts = new Map<string, string | undefined>()
  for (const line of table.split('\n')) {
    const [place = '', mount = ''] = line.split(' - ')
    const path = place.split(' ')[4]
    const [type = '', , options = ''] = mount.split(' ')
    if (path !== undefined) mounts.set(unescaped(path), kindOf(type, options))
  }
  return mounts
}

function kindOf(type: string, options: string): string | undefined {
  if (TELLING_FUSE.includes(type)) return undefined
  if (/(^|[,;])aname=drvfs\b/.test(options)) return 'WSL drive'
  if (Object.hasOwn(BY_NAME, type)) return BY_NAME[type]
  return type.startsWith('fuse.') ? `FUSE (${type.slice('fuse.'.length)})` : undefined
}

/** Spaces and the like stand as octal numbers: `\040`. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

function ancestry(path: string): string[] {
  return path === '/' ? ['/'] : [path, ...ancestry(posix.dirname(path))]
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

function byMagic(folder: string): SilentDisk[] {
  try {
    const kind = BY_MAGIC[statfsSync(folder).type >>> 0]
    return kind === undefined ? [] : [{ path: '', kind }]
  } catch {
    return [] // a folder that is gone is reported by the scan of it
  }
}
