import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { DEFAULT_LIMITS } from '../../src/engine/readers/limits.js'
import { compileBytes } from '../../src/engine/readers/read-document.js'
import { MemorySpace } from '../lib/memory-space.js'

interface FolderPassage {
  file: string
  title: string
  text: string
}

/** A space in memory of the files of a folder, with the product's readers and ranking. */
export class FolderSpace {
  readonly passages: FolderPassage[] = []
  readonly #space: MemorySpace

  private constructor(passages: FolderPassage[]) {
    this.passages = passages
    this.#space = new MemorySpace(
      passages.map(({ title, text }, index) => ({ id: String(index), title, text })),
      { isChunked: false },
    )
  }

  static async read(folder: string): Promise<FolderSpace> {
    const passages: FolderPassage[] = []
    for (const file of listFiles(folder)) {
      const name = join(basename(folder), file)
      const { nodes } = await compileBytes(readFileSync(join(folder, file)), { filename: name }, DEFAULT_LIMITS)
      for (const { title, text } of nodes) passages.push({ file: name, title, text })
    }
    return new FolderSpace(passages)
  }

  static fromPassages(passages: FolderPassage[]): FolderSpace {
    return new FolderSpace(passages)
  }

  ask(query: string) {
    return this.#space.ask(query)
  }

  get idf(): (term: string) => number {
    return this.#space.idf
  }
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}
