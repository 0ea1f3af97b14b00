export interface DroppedFile {
  /** file name, with the path inside a dropped folder */
  name: string
  file: File
}

export interface Dropped {
  files: DroppedFile[]
  /** number of names that start with a dot; they are skipped, as in `ks ingest` */
  hidden: number
}

/** Maximum number of files in one drop; more are probably a mistake, such as a dropped disk. */
const MOST_FILES = 50_000

/**
 * Reads the files of a drop, including those in folders. Reads the entries synchronously: they are invalid after the
 * event.
 *
 * @throws Error above `MAX_FILES` files
 */
export async function filesOfDrop(transfer: DataTransfer): Promise<Dropped> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  const dropped: Dropped = { files: [], hidden: 0 }
  // breadth-first with a queue: deep folders need no stack
  const waiting = [...entries]
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    if (entry.name.startsWith('.')) dropped.hidden++
    else if (isFolder(entry)) waiting.push(...(await entriesOf(entry)))
    else if (isFile(entry)) dropped.files.push({ name: entry.fullPath.replace(/^\/+/, ''), file: await fileOf(entry) })
    if (dropped.files.length >= MOST_FILES) throw new Error(`more than ${MOST_FILES} files: use ks ingest for those`)
  }
  return dropped
}

/** Reads the files of an input; files of a folder have their path inside it. */
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

/** Reads all entries of a folder: `readEntries` returns about a hundred at a time, and none at the end. */
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
