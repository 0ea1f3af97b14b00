#!/usr/bin/env node
import { existsSync } from 'node:fs'

// the same in fewer files, where the build could make it
const bundle = new URL('../dist/bundle/kchat.js', import.meta.url)
const { main } = existsSync(bundle) ? await import(bundle.href) : await import('../dist/kchat/main.js')
await main(process.argv.slice(2))
