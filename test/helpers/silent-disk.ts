import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, read, writeSync } from 'node:fs'
import { execaSync } from 'execa'

/**
 * A disk that another machine may change, like a network disk: its files are stored here, and no change is reported.
 */
export interface SilentDisk {
  /** Writes a file, or removes it if undefined; creates and removes its folders. */
  set(path: string, text: string | undefined): void
  unmount(): void
}

interface Node {
  id: bigint
  /** entries of a folder, text of a file */
  content: Map<string, Node> | Buffer
  changedAt: number
}

/** operations of the FUSE protocol that reads need */
const OP = {
  lookup: 1,
  forget: 2,
  getattr: 3,
  open: 14,
  read: 15,
  statfs: 17,
  release: 18,
  flush: 25,
  init: 26,
  opendir: 27,
  readdir: 28,
  releasedir: 29,
  interrupt: 36,
  forgetMany: 42,
}
const ENOENT = -2
const ENOSYS = -38
const MAX_REQUEST_BYTES = 1024 * 1024
const HEADER = { request: 40, answer: 16, entry: 24 }
const MODE = { folder: 0o040755, file: 0o100644 }
const TYPE = { folder: 4, file: 8 }

/**
 * Mounts such a disk: a file system in user space, served by this process. Nothing in this process may block on it.
 *
 * @returns the reason if it could not be mounted: another system, or a missing right
 */
export function mountSilentDisk(path: string): SilentDisk | string {
  if (process.platform !== 'linux' || !existsSync('/dev/fuse')) return 'there is no /dev/fuse'
  mkdirSync(path, { recursive: true })
  const device = openSync('/dev/fuse', 'r+')
  const options = `fd=3,rootmode=40000,user_id=${process.getuid?.()},group_id=${process.getgid?.()},subtype=elsewhere`
  // execa cannot pass on a file descriptor without blocking.
  const mount = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'none', path], {
    stdio: ['ignore', 'pipe', 'pipe', device],
    encoding: 'utf8',
  })
  if (mount.status !== 0) {
    closeSync(device)
    return mount.error?.message ?? mount.stderr
  }
  const tree = createTree()
  serve(device, tree)
  return { set: tree.set, unmount: () => void execaSync('umount', ['-l', path], { reject: false }) }
}

function createTree() {
  let last = 1n
  const root: Node = { id: last, content: new Map(), changedAt: Date.now() }
  const nodes = new Map([[root.id, root]])
  const make = (content: Node['content']): Node => {
    const node = { id: ++last, content, changedAt: Date.now() }
    nodes.set(node.id, node)
    return node
  }
  const setIn = (folder: Node, [name = '', ...rest]: string[], text: string | undefined): void => {
    if (!(folder.content instanceof Map)) throw new Error(`${name} is in no folder`)
    const existing = folder.content.get(name)
    const isNew = existing === undefined
    if (rest.length > 0) {
      const inner = existing ?? make(new Map())
      setIn(inner, rest, text)
      if (inner.content instanceof Map && inner.content.size === 0) folder.content.delete(name)
      else folder.content.set(name, inner)
    } else if (text === undefined) {
      folder.content.delete(name)
    } else if (existing === undefined) {
      folder.content.set(name, make(Buffer.from(text)))
    } else {
      existing.content = Buffer.from(text)
      existing.changedAt = Date.now()
    }
    if (isNew || !folder.content.has(name)) folder.changedAt = Date.now()
  }
  return { nodes, set: (path: string, text: string | undefined) => setIn(root, path.split('/'), text) }
}

function serve(device: number, { nodes }: ReturnType<typeof createTree>): void {
  const request = Buffer.alloc(MAX_REQUEST_BYTES)
  const next = () =>
    read(device, request, 0, request.length, null, (error, bytes) => {
      if (error?.code === 'EINTR' || error?.code === 'ENOENT' || error?.code === 'EAGAIN') return next()
      if (error !== null) return closeSync(device) // unmounted
      handle(Buffer.from(request.subarray(0, bytes)))
      next()
    })
  const handle = (input: Buffer) => {
    const op = input.readUInt32LE(4)
    if (op === OP.forget || op === OP.forgetMany || op === OP.interrupt) return
    const reply = buildReply(op, nodes.get(input.readBigUInt64LE(16)), input.subarray(HEADER.request))
    const body = typeof reply === 'number' ? Buffer.alloc(0) : reply
    const head = Buffer.alloc(HEADER.answer)
    head.writeUInt32LE(HEADER.answer + body.length, 0)
    head.writeInt32LE(typeof reply === 'number' ? reply : 0, 4)
    input.copy(head, 8, 8, 16)
    writeSync(device, Buffer.concat([head, body]))
  }
  next()
}

/** @returns the body of the reply, or an error number */
function buildReply(op: number, node: Node | undefined, input: Buffer): Buffer | number {
  if (op === OP.init) return buildInitReply(input)
  if (node === undefined) return ENOENT
  if (op === OP.getattr) return Buffer.concat([Buffer.alloc(16), encodeAttributes(node)])
  if (op === OP.lookup) return findEntry(node, input.toString('utf8', 0, input.indexOf(0)))
  if (op === OP.open || op === OP.opendir) return Buffer.alloc(16)
  if (op === OP.read) return readContent(node, Number(input.readBigUInt64LE(8)), input.readUInt32LE(16))
  if (op === OP.readdir) return listEntries(node, Number(input.readBigUInt64LE(8)), input.readUInt32LE(16))
  if (op === OP.statfs) return Buffer.alloc(80)
  return op === OP.release || op === OP.releasedir || op === OP.flush ? Buffer.alloc(0) : ENOSYS
}

function buildInitReply(input: Buffer): Buffer {
  const body = Buffer.alloc(64)
  body.writeUInt32LE(7, 0)
  body.writeUInt32LE(31, 4)
  body.writeUInt32LE(input.readUInt32LE(8), 8)
  body.writeUInt32LE(MAX_REQUEST_BYTES / 16, 20)
  return body
}

/** The kernel caches nothing: all cache times are 0. */
function findEntry({ content }: Node, name: string): Buffer | number {
  const node = content instanceof Map ? content.get(name) : undefined
  if (node === undefined) return ENOENT
  const head = Buffer.alloc(40)
  head.writeBigUInt64LE(node.id, 0)
  return Buffer.concat([head, encodeAttributes(node)])
}

function encodeAttributes({ id, content, changedAt }: Node): Buffer {
  const body = Buffer.alloc(88)
  body.writeBigUInt64LE(id, 0)
  body.writeBigUInt64LE(BigInt(content instanceof Map ? 0 : content.length), 8)
  for (const at of [24, 32, 40]) body.writeBigUInt64LE(BigInt(Math.floor(changedAt / 1000)), at)
  for (const at of [48, 52, 56]) body.writeUInt32LE((changedAt % 1000) * 1_000_000, at)
  body.writeUInt32LE(content instanceof Map ? MODE.folder : MODE.file, 60)
  body.writeUInt32LE(1, 64)
  body.writeUInt32LE(process.getuid?.() ?? 0, 68)
  body.writeUInt32LE(process.getgid?.() ?? 0, 72)
  body.writeUInt32LE(4096, 80)
  return body
}

function readContent({ content }: Node, start: number, length: number): Buffer {
  return content instanceof Map ? Buffer.alloc(0) : content.subarray(start, start + length)
}

function listEntries({ content }: Node, start: number, length: number): Buffer {
  const entries = content instanceof Map ? [...content] : []
  const parts: Buffer[] = []
  let size = 0
  for (const [index, [name, node]] of entries.entries()) {
    if (index < start) continue
    const bytes = Buffer.from(name)
    const part = Buffer.alloc(Math.ceil((HEADER.entry + bytes.length) / 8) * 8)
    part.writeBigUInt64LE(node.id, 0)
    part.writeBigUInt64LE(BigInt(index + 1), 8)
    part.writeUInt32LE(bytes.length, 16)
    part.writeUInt32LE(node.content instanceof Map ? TYPE.folder : TYPE.file, 20)
    bytes.copy(part, HEADER.entry)
    size += part.length
    if (size > length) break
    parts.push(part)
  }
  return Buffer.concat(parts)
}
