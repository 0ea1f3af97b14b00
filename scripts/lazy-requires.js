/**
 * Lets the CommonJS modules of a package load each other when they are first used. oclif's modules name nearly all others
 * at their top, of which a command that runs needs a few.
 *
 * Works on what TypeScript emits: a constant for each module, which is only used as `name.member`.
 */
const REQUIRE =
  /^(?:const|var) (\w+) = ((?:__importDefault|__importStar)\(require\("([^"]+)"\)\)|require\("([^"]+)"\));$/gm

/** @param {RegExp} packages paths of the modules that may be changed */
export function lazyRequires(packages) {
  return {
    name: 'lazy-requires',
    /** @param {string} code @param {string} id */
    transform(code, id) {
      if (!packages.test(id)) return undefined
      const names = []
      const declared = code.replace(REQUIRE, (_, name, value) => {
        names.push(name)
        // a function, so that it may stand after its first use
        return `let ${name}$; function ${name}$lazy() { return ${name}$ ??= ${value}; }`
      })
      if (names.length === 0) return undefined
      const uses = new RegExp(`(?<![\\w$.])(${names.join('|')})(?=[.)\\];,\\[])`, 'g')
      return { code: declared.replace(uses, (_, name) => `(${name}$lazy())`), map: null }
    },
  }
}

/** Parts of Node that few runs of a command need and that take long to load. */
const RARE = /^(?:let|const) (\w+) = require\("node:(?:crypto|timers\/promises)"\);$/gm

/** Lets a finished CommonJS chunk load those when they are first used. */
export const lazyBuiltins = {
  name: 'lazy-builtins',
  /** @param {string} code */
  renderChunk(code) {
    const names = [...code.matchAll(RARE)].map(([, name]) => name).filter((name) => !code.includes(`__toESM(${name}`))
    if (names.length === 0) return undefined
    const declared = code.replace(RARE, (line, name) =>
      names.includes(name) ? `const ${name}$lazy = () => ${line.slice(line.indexOf('require'))}` : line,
    )
    const uses = new RegExp(`(?<![\\w$.])(${names.join('|')})(?=\\.)`, 'g')
    return { code: declared.replace(uses, (_, name) => `(${name}$lazy())`), map: null }
  },
}

/** Lets a finished CommonJS chunk import packages through what loads it, or by itself where Node does (`bin/bundle.js`). */
export const importsOfLoader = {
  name: 'imports-of-loader',
  /** @param {string} code */
  renderChunk(code) {
    const changed = code.replace(/(?<![\w$.#])import\(/g, 'importModule(')
    if (changed === code) return undefined
    const own = 'const importModule = module.importModule ?? ((specifier) => import(specifier));'
    // a directive counts only where it stands first
    const strict = /^"use strict";\s*/.exec(changed)?.[0] ?? ''
    return { code: `${strict}${own} ${changed.slice(strict.length)}`, map: null }
  },
}
