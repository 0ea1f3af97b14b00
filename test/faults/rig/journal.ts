import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** As in `shim.c`. */
const TYPES = [
  '',
  'create',
  'write',
  'truncate',
  'sync',
  'sync-folder',
  'rename',
  'unlink',
  'mkdir',
  'rmdir',
  'link',
] as const
type Kind = (typeof TYPES)[number]

const HEAD_BYTES = 32

interface Entry {
  kind: Kind
  /** of files; numbers are reused after a file is deleted */
  inode: bigint
  /** of a write; of a truncation the new length */
  offset: number
  path: string
  /** of a rename or link */
  to: string
  data: Buffer
  /** bytes of the journal up to the end of this entry */
  end: number
}

/** All changes of a program below its data directory, in order. */
export interface Journal {
  entries: Entry[]
  /** bytes */
  length: number
}

/** The current length of the journal: later entries did not exist when a response arrived. */
export function journalLength(path: string): number {
  return statSync(path).size
}

export function readJournal(path: string): Journal {
  const bytes = readFileSync(path)
  const entries: Entry[] = []
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const [type, one, two, size] = [0, 4, 8, 12].map((place) => bytes.readUInt32LE(at + place))
    const paths = at + HEAD_BYTES
    const end = paths + one! + two! + size!
    entries.push({
      kind: TYPES[type!]!,
      inode: bytes.readBigUInt64LE(at + 16),
      offset: Number(bytes.readBigUInt64LE(at + 24)),
      path: bytes.toString('utf8', paths, paths + one!),
      to: bytes.toString('utf8', paths + one!, paths + one! + two!),
      data: bytes.subarray(paths + one! + two!, end),
      end,
    })
    at = end
  }
  return { entries, length: bytes.length }
}

interface File {
  changes: { offset: number; data: Buffer | undefined }[]
  /** number of durable changes */
  synced: number
}

type Node = File | 'folder'

/** A change of names. */
interface NameChange {
  kind: Kind
  path: string
  to: string
  /** the previous target of the name */
  node: Node | undefined
  durable: boolean
}

/** How a power cut treats data that was not synced. */
export interface Cut {
  /** bytes of the journal before the cut */
  at: number
  /** numbers in [0, 1) */
  random: () => number
  /** fraction of unsynced blocks and names that were written anyway */
  kept: number
}

const BLOCK = 4096
const SECTOR = 512
/** fraction of the written blocks that are torn */
const TORN = 0.1

/**
 * Builds the data directory after a power cut. Synced data is complete. Of other data some blocks are present, in no
 * order, and some are torn. Names are durable once their folder was synced; of later changes in a folder the first few
 * are present.
 *
 * @param from the data directory as the journal names it
 * @param target a folder that does not exist
 */
export function rebuild(journal: Journal, cut: Cut, from: string, target: string): void {
  const names = replay(journal.entries.filter(({ end }) => end <= cut.at))
  mkdirSync(target, { mode: 0o700 })
  for (const [path, node] of survivors(names, cut, from)) {
    const place = join(target, relative(from, path))
    if (node === 'folder') mkdirSync(place, { mode: 0o700 })
    else writeFileSync(place, contentOf(node, cut), { mode: 0o600 })
  }
}

function replay(entries: Entry[]): NameChange[] {
  const files = new Map<bigint, File>()
  /** the names if nothing was lost */
  const whole = new Map<string, Node>()
  const names: NameChange[] = []
  for (const { kind, inode, offset, path, to, data } of entries) {
    const file = files.get(inode)
    if (kind === 'write') file?.changes.push({ offset, data })
    else if (kind === 'truncate') file?.changes.push({ offset, data: undefined })
    else if (kind === 'sync') {
      if (file !== undefined) file.synced = file.changes.length
    } else if (kind === 'sync-folder') {
      for (const name of names) if (foldersOf(name).includes(path)) name.durable = true
    } else {
      const made: Node = kind === 'mkdir' ? 'folder' : { changes: [], synced: 0 }
      if (kind === 'create' && made !== 'folder') files.set(inode, made)
      const node = kind === 'create' || kind === 'mkdir' ? made : whole.get(path)
      const name = { kind, path, to, node, durable: false }
      names.push(name)
      apply(whole, name)
    }
  }
  return names
}

function foldersOf({ path, to }: NameChange): string[] {
  return to === '' ? [dirname(path)] : [dirname(path), dirname(to)]
}

/** The files and folders that have a name after the cut. */
function survivors(names: NameChange[], { random, kept }: Cut, from: string): Map<string, Node> {
  const there = new Map<string, Node>()
  /** folders whose later changes are lost */
  const ended = new Set<string>()
  for (const name of names) {
    const folders = foldersOf(name)
    if (!name.durable) {
      if (folders.some((folder) => ended.has(folder)) || random() >= kept) {
        for (const folder of folders) ended.add(folder)
        continue
      }
    }
    const place = name.to === '' ? name.path : name.to
    if (dirname(place) !== from && !there.has(dirname(place))) continue
    apply(there, name)
  }
  return there
}

function apply(there: Map<string, Node>, { kind, path, to, node }: NameChange): void {
  if (kind === 'unlink' || kind === 'rmdir' || kind === 'rename') there.delete(path)
  if (node === undefined || kind === 'unlink' || kind === 'rmdir') return
  there.set(to === '' ? path : to, node)
}

function contentOf(file: File, { random, kept }: Cut): Buffer {
  const content = new Content()
  for (const [index, { offset, data }] of file.changes.entries()) {
    const isSynced = index < file.synced
    if (data === undefined) {
      if (isSynced || random() < kept) content.truncate(offset)
      continue
    }
    if (isSynced) {
      content.put(offset, data)
      continue
    }
    for (let start = 0; start < data.length; ) {
      const end = Math.min(data.length, start + BLOCK - ((offset + start) % BLOCK))
      if (random() < kept) {
        const isTorn = kept < 1 && random() < TORN
        const sectors = Math.ceil((end - start) / SECTOR)
        content.put(
          offset + start,
          data.subarray(start, isTorn ? start + Math.floor(random() * sectors) * SECTOR : end),
        )
      }
      start = end
    }
  }
  return content.bytes()
}

/** The bytes of a file; unwritten ones are zero. */
class Content {
  #room = Buffer.alloc(BLOCK)
  #length = 0

  put(offset: number, data: Buffer): void {
    this.#reach(offset + data.length)
    data.copy(this.#room, offset)
  }

  truncate(length: number): void {
    this.#room.fill(0, length)
    this.#reach(length)
    this.#length = length
  }

  bytes(): Buffer {
    return this.#room.subarray(0, this.#length)
  }

  #reach(length: number): void {
    if (length > this.#room.length) {
      const larger = Buffer.alloc(length * 2)
      this.#room.copy(larger)
      this.#room = larger
    }
    this.#length = Math.max(this.#length, length)
  }
}
