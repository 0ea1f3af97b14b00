interface SelectedFile {
  /** file name, with the path inside a dropped folder */
  name: string
  file: File
}

export interface FileSelection {
  files: SelectedFile[]
  /** number of names that start with a dot; they are skipped, as in `ks ingest` */
  hiddenCount: number
}

/** Maximum number of files in one drop; more are probably a mistake, such as a dropped disk. */
const MAX_FILES = 50_000

/**
 * Reads the files of a drop, including those in folders. Reads the entries synchronously: they are invalid after the
 * event.
 *
 * @throws Error above `MAX_FILES` files
 */
export async function readDrop(transfer: DataTransfer): Promise<FileSelection> {
  const selection: FileSelection = { files: [], hiddenCount: 0 }
  // breadth-first with a queue: deep folders need no stack
  const pending = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  for (let entry = pending.shift(); entry !== undefined; entry = pending.shift()) {
    if (entry.name.startsWith('.')) selection.hiddenCount++
    else if (isFolder(entry)) pending.push(...(await readEntries(entry)))
    else if (isFile(entry))
      selection.files.push({ name: entry.fullPath.replace(/^\/+/, ''), file: await readFile(entry) })
    if (selection.files.length >= MAX_FILES) throw new Error(`more than ${MAX_FILES} files: use ks ingest for those`)
  }
  return selection
}

/** Reads the files of an input; files of a folder have their path inside it. */
export function readFileInput(list: FileList): FileSelection {
  const selection: FileSelection = { files: [], hiddenCount: 0 }
  for (const file of list) {
    const name = file.webkitRelativePath === '' ? file.name : file.webkitRelativePath
    if (name.split('/').some((part) => part.startsWith('.'))) selection.hiddenCount++
    else selection.files.push({ name, file })
  }
  return selection
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

/** Reads all entries of a folder: `readEntries` returns about a hundred at a time, and none at the end. */
async function readEntries(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const entries: FileSystemEntry[] = []
  while (true) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (batch.length === 0) return entries.sort((a, b) => a.name.localeCompare(b.name))
    entries.push(...batch)
  }
}

function readFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}
