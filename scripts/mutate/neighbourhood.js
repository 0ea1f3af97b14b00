/** Which tests reach a file by their imports, and how far away they are. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]/g

/** @param {string} folder @returns {string[]} paths of the files below it */
export function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/**
 * Who imports whom, types aside.
 *
 * @param {string} root
 * @param {readonly string[]} files relative to it
 * @returns {Map<string, string[]>} what each file imports, relative to the root
 */
export function importsOf(root, files) {
  return new Map(
    files.map((file) => {
      const code = readFileSync(join(root, file), 'utf8')
      const named = [...code.matchAll(IMPORT)].map(([, from, dynamic]) => from ?? dynamic ?? '')
      return [file, named.flatMap((name) => resolved(root, file, name))]
    }),
  )
}

/** @returns {string[]} */
function resolved(root, file, name) {
  const path = join(root, dirname(file), name)
  const found = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')].find((one) => existsSync(one))
  return found === undefined ? [] : [relative(root, found)]
}

/**
 * @param {Map<string, string[]>} imports
 * @param {string} target
 * @returns {Map<string, number>} each file that reaches the target, and over how many imports
 */
export function distancesTo(imports, target) {
  const importers = new Map()
  for (const [file, named] of imports)
    for (const name of named) importers.set(name, [...(importers.get(name) ?? []), file])
  const distances = new Map([[target, 0]])
  const waiting = [target]
  for (const file of waiting)
    for (const importer of importers.get(file) ?? []) {
      if (distances.has(importer)) continue
      distances.set(importer, (distances.get(file) ?? 0) + 1)
      waiting.push(importer)
    }
  return distances
}

/**
 * How near a test is to a file: one that imports it by itself first, then those of its folder, then those of the folders
 * around it, then others. Tests of an engine reach all of it over the same few files, so the number of imports between
 * says nothing: of those that are as near, the quickest goes first.
 *
 * @param {string} test path below `test/`
 * @param {string} target path below `src/`
 * @param {number} distance imports between them
 * @returns {number} the smaller the nearer
 */
export function remoteness(test, target, distance) {
  if (distance === 1) return 0
  const [own, other] = [test, target].map((path) => dirname(path).split('/').slice(1))
  let shared = 0
  while (shared < other.length && own[shared] === other[shared]) shared++
  return 1 + (other.length - shared) * 2 + Number(own.length > shared)
}
