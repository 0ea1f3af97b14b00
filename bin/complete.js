'use strict'
const { join } = require('node:path')

/** what completion scripts of shells ask a program with; it is no command */
const COMPLETE = '__complete'

/**
 * Answers a shell that completes, with as little code as can be: of the program itself nothing is loaded.
 *
 * @param {string[]} argv
 * @param {'ks' | 'kchat'} program
 * @returns {boolean} whether it was asked by one
 */
exports.completes = (argv, program) => {
  if (argv[0] !== COMPLETE) return false
  void run(argv.slice(1), program)
  return true
}

async function run(argv, program) {
  const folder = join(__dirname, '..', 'dist')
  const bundle = require('./bundle.js').loadBundle(join(folder, 'bundle', `complete-${program}`))
  const { complete } = bundle ?? (await import(join(folder, program === 'ks' ? 'cli' : 'kchat', 'complete.js')))
  await complete(argv)
  // nothing is left to be waited for
  process.exit(0)
}
