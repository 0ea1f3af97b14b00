#!/usr/bin/env node
'use strict'
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

if (!require('./complete.js').handleCompletion(process.argv.slice(2), 'kchat')) void run()

async function run() {
  // the same program in fewer files, if the build created a bundle
  const bundle = join(__dirname, '..', 'dist', 'bundle', 'kchat.js')
  const { main } = existsSync(bundle) ? await import(pathToFileURL(bundle).href) : await import('../dist/kchat/main.js')
  await main(process.argv.slice(2))
}
