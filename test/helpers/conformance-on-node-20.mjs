/**
 * The conformance suite imports `globSync` of Node 22 for a command that is not run here. With this, and nothing else of it
 * changed, it runs on Node 20.
 */
import { register } from 'node:module'

const fs = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => []"
const hooks = `
  export const resolve = (name, context, next) =>
    name === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/')
      ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(fs)}`)}, shortCircuit: true }
      : next(name, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
