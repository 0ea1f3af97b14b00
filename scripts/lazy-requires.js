/** A module loaded as TypeScript emits it: a constant that is only used as `name.member`. */
const REQUIRE =
  /^(?:const|var) (\w+) = ((?:__importDefault|__importStar)\(require\("([^"]+)"\)\)|require\("([^"]+)"\));$/gm

/**
 * Creates a plugin with which CommonJS modules load each other at first use. oclif's modules load nearly all others at
 * their start, and a command needs few of them.
 *
 * @param {RegExp} packages paths of the modules that may be changed
 */
export function createLazyRequires(packages) {
  return {
    name: 'lazy-requires',
    /** @param {string} code @param {string} id */
    transform(code, id) {
      if (!packages.test(id)) return undefined
      const names = []
      const declared = code.replace(REQUIRE, (_, name, value) => {
        names.push(name)
        // a function declaration, because it may follow its first use
        return `let ${name}$; function ${name}$lazy() { return ${name}$ ??= ${value}; }`
      })
      if (names.length === 0) return undefined
      const uses = new RegExp(`(?<![\\w$.])(${names.join('|')})(?=[.)\\];,\\[])`, 'g')
      return { code: declared.replace(uses, (_, name) => `(${name}$lazy())`), map: null }
    },
  }
}

/** Built-in modules that few runs of a command need and that take long to load. */
const RARE = /^(?:let|const) (\w+) = require\("node:(?:crypto|timers\/promises)"\);$/gm

/** Plugin with which a finished CommonJS chunk loads these at first use. */
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

/** Plugin with which a finished CommonJS chunk imports packages through its loader (`bin/bundle.js`), if it has one. */
export const importsOfLoader = {
  name: 'imports-of-loader',
  /** @param {string} code */
  renderChunk(code) {
    const changed = code.replace(/(?<![\w$.#])import\(/g, 'importModule(')
    if (changed === code) return undefined
    const declaration = 'const importModule = module.importModule ?? ((specifier) => import(specifier));'
    // a directive must be first
    const strict = /^"use strict";\s*/.exec(changed)?.[0] ?? ''
    return { code: `${strict}${declaration} ${changed.slice(strict.length)}`, map: null }
  },
}
