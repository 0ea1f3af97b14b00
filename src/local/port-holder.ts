import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

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
export function portHolder(port: number): PortHolder | undefined {
  const inodes = listeningInodes(port)
  if (inodes.size === 0) return undefined
  for (const entry of namesIn('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    if (namesIn(`/proc/${entry}/fd`).some((fd) => inodes.has(linkOf(`/proc/${entry}/fd/${fd}`))))
      return { pid: Number(entry), program: programOf(entry) }
  }
  return undefined
}

/** Names of the port's sockets as links of file descriptors: `socket:[4711]`. */
function listeningInodes(port: number): Set<string> {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0')
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => textOf(path).split('\n').slice(1))
  return new Set(
    rows.flatMap((row) => {
      const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/)
      return local.endsWith(`:${wanted}`) && state === LISTENING ? [`socket:[${inode}]`] : []
    }),
  )
}

function programOf(pid: string): string {
  const words = textOf(`/proc/${pid}/cmdline`).split('\0')
  const program = basename(words[0] ?? '') || textOf(`/proc/${pid}/comm`).trim()
  const script = words.slice(1).find((word) => word !== '' && !word.startsWith('-'))
  const runs = INTERPRETER.test(program) && script !== undefined && /^[\w./@+-]+$/.test(script)
  return (runs ? `${program} ${basename(script)}` : program) || 'an unnamed program'
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // gone, another user's, or not Linux
    return []
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
