import { usageError } from './cli-error.js'

const NAMESPACES = ['/sources', '/knowledge', '/evidence', '/workspaces']

/** A path of the virtual file system. @throws CliError exit 2 when it begins with no namespace */
export function virtualPath(text: string): string {
  const path = text.length > 1 ? text.replace(/\/+$/, '') : text
  if (NAMESPACES.some((name) => path === name || path.startsWith(`${name}/`))) return path
  throw usageError(
    `${JSON.stringify(text)} is in no namespace`,
    `paths begin with ${NAMESPACES.map((name) => `\`${name}\``).join(', ')}`,
  )
}
