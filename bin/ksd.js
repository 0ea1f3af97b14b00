#!/usr/bin/env node
import { existsSync } from 'node:fs'

await import('../dist/lib/no-debugger.js')
// the same in fewer files, where the build could make it
const bundle = new URL('../dist/bundle/ksd.js', import.meta.url)
const { main } = existsSync(bundle) ? await import(bundle.href) : await import('../dist/daemon/main.js')
await main(process.argv.slice(2))
