import { usageError } from './cli-error.js'

const NAMESPACES = ['/sources', '/knowledge', '/evidence', '/workspaces']

/** Normalizes a path of the virtual file system. @throws CliError exit 2 if it does not begin with one of them */
export function parseVirtualPath(text: string): string {
  const path = text.length > 1 ? text.replace(/\/+$/, '') : text
  if (NAMESPACES.some((name) => path === name || path.startsWith(`${name}/`))) return path
  throw usageError(
    `${JSON.stringify(text)} is not a path of a space`,
    `paths begin with ${NAMESPACES.map((name) => `\`${name}\``).join(', ')}`,
  )
}
