'use strict'
const { readFileSync } = require('node:fs')
const { basename, join } = require('node:path')
const { Script } = require('node:vm')

/**
 * Loads a bundle of CommonJS files, each with what V8 made of it when it was built (`scripts/code-cache.js`).
 *
 * @param {string} folder of the bundle, whose package.json names the first file
 * @param {(filename: string, script: Script) => void} [onScript] told of every file
 * @returns {object | undefined} what the first file exports; undefined where there is no bundle
 */
exports.loadBundle = (folder, onScript) => {
  const main = mainOf(folder)
  if (main === undefined) return undefined
  // scripts of our own making have no source maps
  if (process.sourceMapsEnabled) return require(join(folder, main))
  const loaded = new Map()
  return load(`./${main}`)

  function load(name) {
    if (!name.startsWith('./')) return require(name)
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    // V8 forgets what a script that it kept may import by itself, so that is done from here
    const module = { exports: {}, importModule: (/** @type {string} */ specifier) => import(specifier) }
    loaded.set(name, module)
    const filename = join(folder, name)
    // what V8 made keeps the name that it was made with, so that must not be a path of the machine that built it
    const script = compiled(filename, onScript === undefined ? filename : join(basename(folder), name))
    onScript?.(filename, script)
    script.runInThisContext()(module.exports, load, module, filename, folder)
    return module.exports
  }
}

function compiled(path, filename) {
  // the build leaves nothing but ASCII in it
  const source = readFileSync(path, 'latin1')
  return new Script(`(function (exports, require, module, __filename, __dirname) { ${source}\n})`, {
    filename,
    cachedData: read(`${path}.cache`),
  })
}

function mainOf(folder) {
  const text = read(join(folder, 'package.json'))
  return text === undefined ? undefined : JSON.parse(text).main
}

/** Where there is no file, or it is not to be read, all goes on without it. */
function read(path) {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
