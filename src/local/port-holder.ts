import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { listReadableNames, readLink } from './file-system.js'

/** The process that listens on a port. */
export interface PortHolder {
  pid: number
  /** name of its program, without arguments, which may contain secrets */
  program: string
}

/** State of a listening socket in the kernel's table. */
const LISTENING = '0A'
/** Interpreters, which are named with their script. */
const INTERPRETER = /^(?:node|bun|deno|python[\d.]*|ruby|perl|php|java|sh|bash)$/

/**
 * Finds the process that listens on a TCP port of this machine, where `/proc` is readable: on Linux, processes of the
 * same user, or all as root.
 */
export function findPortHolder(port: number): PortHolder | undefined {
  const sockets = listListeningSockets(port)
  if (sockets.size === 0) return undefined
  for (const entry of listReadableNames('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    if (listReadableNames(`/proc/${entry}/fd`).some((fd) => sockets.has(readLink(`/proc/${entry}/fd/${fd}`))))
      return { pid: Number(entry), program: getProgramName(entry) }
  }
  return undefined
}

/** Names of the port's sockets as links of file descriptors: `socket:[4711]`. */
function listListeningSockets(port: number): Set<string> {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => readTextOrEmpty(path).split('\n').slice(1))
  return new Set(
    rows.flatMap((row) => {
      const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/)
      return local.endsWith(`:${hexPort}`) && state === LISTENING ? [`socket:[${inode}]`] : []
    }),
  )
}

function getProgramName(pid: string): string {
  const argv = readTextOrEmpty(`/proc/${pid}/cmdline`).split('\0')
  const program = basename(argv[0] ?? '') || readTextOrEmpty(`/proc/${pid}/comm`).trim()
  const script = argv.slice(1).find((argument) => argument !== '' && !argument.startsWith('-'))
  const isScript = INTERPRETER.test(program) && script !== undefined && /^[\w./@+-]+$/.test(script)
  return (isScript ? `${program} ${basename(script)}` : program) || 'an unnamed program'
}

function readTextOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
