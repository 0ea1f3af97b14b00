import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { isLoopbackAddress } from '../../../lib/loopback.js'
import { findNearest } from '../../../lib/text/nearest.js'
import type { ModelTask } from '../../../local/models/pulled.js'
import { usageError } from '../../cli-error.js'
import { CATALOGUE, type CatalogueEntry, getHubAddress } from './catalogue.js'

/** The model to pull and its source. */
export interface ModelOrigin {
  name: string
  from: { url: string } | { path: string }
  task?: ModelTask
  /** License stated in the file. */
  license?: string
  entry?: CatalogueEntry
}

/**
 * Parses the name of a model, an address, or a path.
 *
 * @throws CliError exit 2 for anything else
 */
export function parseModelOrigin(text: string, env: NodeJS.ProcessEnv): ModelOrigin {
  const entry = CATALOGUE.find(({ name }) => name === text.toLowerCase())
  if (entry !== undefined)
    return { name: entry.name, from: { url: checkAddress(getHubAddress(entry, env)) }, task: entry.task, entry }
  if (/^https?:\/\//.test(text)) {
    const url = checkAddress(text)
    const { protocol, hostname } = new URL(url)
    if (protocol === 'http:' && hostname !== 'localhost' && !isLoopbackAddress(hostname.replace(/^\[|\]$/g, '')))
      throw usageError('an address with http:// must be on this machine: it does not authenticate the server')
    return { name: toModelName(decodePath(new URL(url).pathname)), from: { url } }
  }
  const path = resolve(text)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return { name: toModelName(path), from: { path } }
  const names = CATALOGUE.map(({ name }) => name)
  const nearest = findNearest(text, names)
  throw usageError(
    `${JSON.stringify(text)} is not a model of the catalogue, an address or a file`,
    nearest === undefined ? '`ks models pull --list` lists the catalogue' : `did you mean \`${nearest}\`?`,
  )
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function checkAddress(text: string): string {
  if (!URL.canParse(text)) throw usageError(`${JSON.stringify(text)} is not an address`)
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw usageError(`an address must start with https:// or http://, received ${JSON.stringify(url.protocol)}`)
  if (url.username !== '' || url.password !== '') throw usageError('the address must not contain credentials')
  return url.href
}

/** Derives a model name from a file name. */
function toModelName(path: string): string {
  const name = basename(path)
    .replace(/\.gguf$/i, '')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64)
  if (name === '') throw usageError('the address or path has no file name')
  return name
}
