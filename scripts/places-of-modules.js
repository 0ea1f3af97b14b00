import { relative, sep } from 'node:path'

const BUILTIN = 'process.getBuiltinModule'

/**
 * A module that is joined still finds child processes, workers and packages from its own place.
 *
 * @param {string} output folder of the bundle
 * @param {'esm' | 'cjs'} format of the bundle
 */
export function placesOfModules(output, format) {
  return {
    name: 'places-of-modules',
    /** @param {string} code @param {string} id */
    transform(code, id) {
      if (id.includes('node_modules') || !code.includes('import.meta.')) return undefined
      const place = JSON.stringify(relative(output, id).split(sep).join('/'))
      const url =
        format === 'esm'
          ? `new URL(${place}, import.meta.url).href`
          : // a module may have a `require` of its own
            `${BUILTIN}('node:url').pathToFileURL(${BUILTIN}('node:path').join(__dirname, ${place})).href`
      return { code: code.replaceAll('import.meta.url', `(${url})`), map: null }
    },
  }
}
