export interface DroppedFile {
  /** with the folders that it was dropped in */
  name: string
  file: File
}

export interface Dropped {
  files: DroppedFile[]
  /** names that begin with a dot, which are left out as `ks ingest` does */
  hidden: number
}

/** more files of one drop are not taken: a disk was dropped by mistake */
const MOST_FILES = 50_000

/** Files of a drop, those of folders with them. The items have to be taken before the event is over, so this begins at once. */
export async function filesOfDrop(transfer: DataTransfer): Promise<Dropped> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  const dropped: Dropped = { files: [], hidden: 0 }
  // folders are put at the end, so that deep ones take no stack
  const waiting = [...entries]
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    if (entry.name.startsWith('.')) dropped.hidden++
    else if (isFolder(entry)) waiting.push(...(await entriesOf(entry)))
    else if (isFile(entry)) dropped.files.push({ name: entry.fullPath.replace(/^\/+/, ''), file: await fileOf(entry) })
    if (dropped.files.length >= MOST_FILES) throw new Error(`more than ${MOST_FILES} files: use ks ingest for those`)
  }
  return dropped
}

/** Files of a field, a folder's with the path below it. */
export function filesOfField(chosen: FileList): Dropped {
  const dropped: Dropped = { files: [], hidden: 0 }
  for (const file of chosen) {
    const name = file.webkitRelativePath === '' ? file.name : file.webkitRelativePath
    if (name.split('/').some((part) => part.startsWith('.'))) dropped.hidden++
    else dropped.files.push({ name, file })
  }
  return dropped
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

/** A reader gives a hundred entries at a time, and none at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  while (true) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all.sort((a, b) => a.name.localeCompare(b.name))
    all.push(...some)
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}
