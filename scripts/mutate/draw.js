/** Which mutants of which files are tried. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mutantsOf } from './mutants.js'
import { sample } from './sample.js'

/** a file has fewer mutants than this: their numbers do not depend on which other files are tried */
const MOST_OF_A_FILE = 100_000

/**
 * @param {string} root
 * @param {{ path: string, files: string[] }[]} groups
 * @param {readonly string[]} sources all of them, whose order gives the numbers
 * @param {{ limit: number, seed: number, again?: { file: string, name: string, before: string, text: string, status: string }[] }} how
 */
export function drawn(root, groups, sources, { limit, seed, again }) {
  const missed = again?.filter(({ status }) => status === 'survived' || status === 'unreached').map(nameOf)
  const mutants = groups.flatMap(({ path, files }) => {
    const all = files.flatMap((file) => placed(root, file, sources.indexOf(file) * MOST_OF_A_FILE + 1, path))
    return missed === undefined ? sample(all, limit, seed) : all.filter((mutant) => missed.includes(nameOf(mutant)))
  })
  const files = [...new Set(groups.flatMap((group) => group.files))].sort()
  /** @type {[string, number][]} */
  const targets = files.map((file) => [file, sources.indexOf(file) * MOST_OF_A_FILE + 1])
  return { mutants, targets }
}

function nameOf({ file, line, name, before, text }) {
  return JSON.stringify([file, line, name, before, text])
}

function placed(root, file, first, group) {
  const code = readFileSync(join(root, file), 'utf8')
  return mutantsOf(file, code).map((mutant, index) => {
    const above = code.slice(0, mutant.start).split('\n')
    return {
      ...{ id: first + index, group, file, line: above.length, column: (above.at(-1)?.length ?? 0) + 1 },
      ...{ before: code.slice(mutant.start, mutant.end), ...mutant },
    }
  })
}
