import { findNearest } from '../lib/text/nearest.js'
import { usageError } from './cli-error.js'
import { hasWildcards } from './fs/wildcards.js'

/** The folders at the root of the virtual file system. */
export const NAMESPACES = ['/sources', '/knowledge', '/evidence', '/workspaces']
export const ROOT_PATH = '/'
/** Where `grep` and `find` search without a path: each document is there once. */
export const DOCUMENTS_PATH = '/sources'

/** Normalizes a path below a namespace. @throws CliError exit 2 if it is in none */
export function parseVirtualPath(text: string): string {
  const path = resolveVirtualPath(text)
  if (path !== ROOT_PATH) return path
  throw usageError('the root `/` cannot be changed', 'files are written in `/workspaces`')
}

/**
 * Normalizes a path, which may be relative: `.`, `..` and empty parts are resolved.
 *
 * @param folder a normalized path that a relative path starts at
 * @throws CliError exit 2 if it is neither the root nor below a namespace
 */
export function resolveVirtualPath(text: string, folder = ROOT_PATH): string {
  const path = joinVirtualPath(text, folder)
  const [, namespace = '', ...rest] = path.split('/')
  if (path === ROOT_PATH || NAMESPACES.includes(`/${namespace}`) || hasWildcards(namespace)) return path
  const nearest = findNearest(`/${namespace}`, NAMESPACES)
  throw usageError(
    `there is no folder ${JSON.stringify(`/${namespace}`)}`,
    nearest === undefined
      ? `paths start with ${NAMESPACES.map((name) => `\`${name}\``).join(', ')}; documents are in \`/sources\``
      : `did you mean \`${[nearest, ...rest].join('/')}\`?`,
  )
}

/** Like `resolveVirtualPath`, without a check of the namespace. */
export function joinVirtualPath(text: string, folder: string): string {
  const parts: string[] = []
  for (const part of (text.startsWith('/') ? text : `${folder}/${text}`).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}
