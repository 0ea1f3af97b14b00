import { KsError } from '../contract/errors.js'

/** The data of a data directory is damaged or not whole: nothing of it was changed, and a person has to act. */
export class StoreRefused extends KsError {
  constructor(message: string, options?: ErrorOptions) {
    super('unavailable', message, options)
    this.name = 'StoreRefused'
  }
}
