import { KsError } from '../contract/errors.js'

/** The data of a data directory is damaged or incomplete: nothing was changed, and an operator must act. */
export class StoreDamagedError extends KsError {
  constructor(message: string, options?: ErrorOptions) {
    super('unavailable', message, options)
    this.name = 'StoreRefused'
  }
}
