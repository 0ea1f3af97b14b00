import { writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'

/** Beside a bundle: the packages that became part of it, whose licences go into the notices of a package. */
export const JOINED = 'joined-packages.json'

/**
 * @param {string} folder of the bundle
 * @param {{ moduleIds?: string[] }[]} files that a bundler wrote
 */
export function noteJoined(folder, files) {
  const folders = files.flatMap(({ moduleIds = [] }) => moduleIds).flatMap(packageOf)
  writeFileSync(join(folder, JOINED), `${JSON.stringify([...new Set(folders)].sort())}\n`)
}

/** As the lockfile names it, wherever the packages of a checkout are. */
function packageOf(module) {
  const path = module.split(sep).join('/')
  const found = /node_modules\/(?:@[^/]+\/)?[^/]+(?:\/node_modules\/(?:@[^/]+\/)?[^/]+)*/.exec(path)
  return found === null ? [] : [found[0]]
}
