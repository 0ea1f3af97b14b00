import { EXIT } from '../contract/errors.js'

/** `kchat`: the chat service is not part of this version, and no command pretends that it is. */
export function main(argv: readonly string[]): void {
  if (argv[0] === '--help' || argv[0] === '-h' || argv.length === 0) {
    process.stdout.write('kchat is the terminal client of the chat service, which is not part of this version.\n')
    if (argv.length > 0) return
  } else {
    process.stderr.write('kchat: the chat service is not part of this version\n')
  }
  process.stderr.write('hint: `ks query TEXT` asks a knowledge space\n')
  process.exitCode = EXIT.notConfigured
}
