import { relative, sep } from 'node:path'

const BUILTIN = 'process.getBuiltinModule'

/**
 * Creates a plugin that replaces `import.meta.url` by the original location of a module, so that it still finds child
 * processes, workers and packages.
 *
 * @param {string} output folder of the bundle
 * @param {'esm' | 'cjs'} format of the bundle
 */
export function keepModuleLocations(output, format) {
  return {
    name: 'module-locations',
    /** @param {string} code @param {string} id */
    transform(code, id) {
      if (id.includes('node_modules') || !code.includes('import.meta.')) return undefined
      const path = JSON.stringify(relative(output, id).split(sep).join('/'))
      const url =
        format === 'esm'
          ? `new URL(${path}, import.meta.url).href`
          : // not by `require`, which a module may have redefined
            `${BUILTIN}('node:url').pathToFileURL(${BUILTIN}('node:path').join(__dirname, ${path})).href`
      return { code: code.replaceAll('import.meta.url', `(${url})`), map: null }
    },
  }
}
