#!/usr/bin/env node
// `ks` from a working copy: builds what changed first, then runs it.
import { fileURLToPath } from 'node:url'
import { buildIfStale } from '../scripts/build.js'

buildIfStale()
const { main } = await import('../dist/cli/main.js')
await main(process.argv.slice(2), fileURLToPath(new URL('..', import.meta.url)))
