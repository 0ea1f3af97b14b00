'use strict'
const { readFileSync } = require('node:fs')
const { basename, join } = require('node:path')
const { Script } = require('node:vm')

/**
 * Loads a bundle of CommonJS files, each with V8's code cache from the build (`scripts/code-cache.js`).
 *
 * @param {string} folder of the bundle; its package.json names the main file
 * @param {(filename: string, script: Script) => void} [onScript] called for every file
 * @returns {object | undefined} exports of the main file; undefined without a bundle
 */
exports.loadBundle = (folder, onScript) => {
  const main = readMain(folder)
  if (main === undefined) return undefined
  // our own scripts have no source maps
  if (process.sourceMapsEnabled) return require(join(folder, main))
  const loaded = new Map()
  return load(`./${main}`)

  function load(name) {
    if (!name.startsWith('./')) return require(name)
    const cached = loaded.get(name)
    if (cached !== undefined) return cached.exports
    // a script from the code cache cannot call `import()` itself, so this function does it
    const module = { exports: {}, importModule: (/** @type {string} */ specifier) => import(specifier) }
    loaded.set(name, module)
    const filename = join(folder, name)
    // the code cache stores this name, so it must not be a path of the build machine
    const script = compileFile(filename, onScript === undefined ? filename : join(basename(folder), name))
    onScript?.(filename, script)
    script.runInThisContext()(module.exports, load, module, filename, folder)
    return module.exports
  }
}

function compileFile(path, filename) {
  // the build writes only ASCII
  const source = readFileSync(path, 'latin1')
  return new Script(`(function (exports, require, module, __filename, __dirname) { ${source}\n})`, {
    filename,
    cachedData: readIfPresent(`${path}.cache`),
  })
}

function readMain(folder) {
  const text = readIfPresent(join(folder, 'package.json'))
  return text === undefined ? undefined : JSON.parse(text).main
}

/** @returns undefined for a missing or unreadable file: the caller works without it */
function readIfPresent(path) {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
