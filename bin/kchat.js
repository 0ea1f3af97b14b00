#!/usr/bin/env node
'use strict'
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

if (!require('./complete.js').completes(process.argv.slice(2), 'kchat')) void run()

async function run() {
  // the same in fewer files, where the build could make it
  const bundle = join(__dirname, '..', 'dist', 'bundle', 'kchat.js')
  const { main } = existsSync(bundle) ? await import(pathToFileURL(bundle).href) : await import('../dist/kchat/main.js')
  await main(process.argv.slice(2))
}
