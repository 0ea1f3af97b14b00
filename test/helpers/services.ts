import { afterAll, vi } from 'vitest'
import { BackgroundService } from '../../src/engine/base/background-service.js'
import type { EngineContext } from '../../src/engine/library/context.js'

type Service = BackgroundService<EngineContext>

/** The services that engines of this test have started since, so that a test can drain or poll them. */
export interface StartedServices {
  all(): Service[]
  /** The last one of a class. @throws if none has started */
  last<S extends Service>(type: abstract new (...args: never[]) => S): S
}

export function watchStarts(): StartedServices {
  const spy = vi.spyOn(BackgroundService.prototype, 'start')
  afterAll(() => spy.mockRestore())
  const all = () => spy.mock.contexts.filter((context): context is Service => context instanceof BackgroundService)
  return {
    all,
    last(type) {
      for (const service of all().reverse()) if (service instanceof type) return service
      throw new Error(`no ${type.name} has started`)
    },
  }
}
