import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { isRecord } from '../../lib/json/values.js'

const FILE_VERSION = 1

/** The file or folder that gives a path its name. */
export interface NamedRoot {
  /** Real path. */
  path: string
  /** Name of its document, or of the folder of its documents; `` for the top of the space. */
  name: string
}

/**
 * The names that files and folders of this machine have in a space, remembered for all ways of ingesting. A file is
 * named by its path below the innermost remembered folder, so that it has one name wherever it is ingested from.
 */
export class RootNames {
  readonly #file: string
  #names: Map<string, string>
  readonly #added = new Map<string, string>()

  /** @param serviceKey data directory or URL of the service */
  constructor(stateDir: string, serviceKey: string, spaceId: string) {
    const key = createHash('sha256').update(`${serviceKey}\n${spaceId}`).digest('hex').slice(0, 16)
    this.#file = join(stateDir, 'ingest', `${key}.roots.json`)
    this.#names = readNames(this.#file)
  }

  /** The innermost remembered root that is or contains a path. */
  findRoot(path: string): NamedRoot | undefined {
    for (let folder = path; ; folder = dirname(folder)) {
      const name = this.#names.get(folder)
      if (name !== undefined) return { path: folder, name }
      if (dirname(folder) === folder) return undefined
    }
  }

  /** The name of a real path; undefined below no remembered root. */
  find(path: string): string | undefined {
    const root = this.findRoot(path)
    return root === undefined ? undefined : nameBelow(root, path)
  }

  add({ path, name }: NamedRoot): void {
    if (this.#names.get(path) === name) return
    this.#names.set(path, name)
    this.#added.set(path, name)
  }

  /** Stores added names; another process may have stored others meanwhile. */
  save(): void {
    if (this.#added.size === 0) return
    this.#names = new Map([...readNames(this.#file), ...this.#added])
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
    const temporary = `${this.#file}.${process.pid}.tmp`
    const roots = Object.fromEntries(this.#names)
    writeFileSync(temporary, JSON.stringify({ version: FILE_VERSION, roots }), { mode: 0o600 })
    renameSync(temporary, this.#file)
    this.#added.clear()
  }
}

/** The name of a path that is or is below a root. */
export function nameBelow(root: NamedRoot, path: string): string {
  return [root.name, ...relative(root.path, path).split(sep)].filter((part) => part !== '').join('/')
}

function readNames(file: string): Map<string, string> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isRecord(value) || value.version !== FILE_VERSION || !isRecord(value.roots)) return new Map()
    return new Map(
      Object.entries(value.roots).flatMap(([path, name]) => (typeof name === 'string' ? [[path, name]] : [])),
    )
  } catch {
    // Without the file, names are found by the documents of the space.
    return new Map()
  }
}
