import { writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'

/** File in the folder of a bundle that lists the packages that became part of it: the notices need their licences. */
export const BUNDLED_PACKAGES_FILE = 'joined-packages.json'

/**
 * Writes the list of the packages that became part of a bundle.
 *
 * @param {string} folder of the bundle
 * @param {{ moduleIds?: string[] }[]} files that a bundler wrote
 */
export function writeBundledPackages(folder, files) {
  const packages = files.flatMap(({ moduleIds = [] }) => moduleIds).flatMap(findPackage)
  writeFileSync(join(folder, BUNDLED_PACKAGES_FILE), `${JSON.stringify([...new Set(packages)].sort())}\n`)
}

/** The package of a module as the lockfile names it: `node_modules/zod`. */
function findPackage(module) {
  const path = module.split(sep).join('/')
  const match = /node_modules\/(?:@[^/]+\/)?[^/]+(?:\/node_modules\/(?:@[^/]+\/)?[^/]+)*/.exec(path)
  return match === null ? [] : [match[0]]
}
