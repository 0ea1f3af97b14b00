/** Writes `docs/openapi.json` from the compiled contract. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'

const { toOpenApi } = await import('../dist/contract/openapi.js')
const { allRoutes } = await import('../dist/contract/routes.js')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

writeFileSync(join(ROOT, 'docs', 'openapi.json'), `${JSON.stringify(toOpenApi(allRoutes, version), null, 2)}\n`)
