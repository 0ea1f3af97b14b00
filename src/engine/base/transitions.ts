import { KsError } from '../../contract/errors.js'

/** The permitted moves between states. @param subject noun for messages, such as `lease` */
export function defineTransitions<State extends string>(subject: string, moves: Record<State, readonly State[]>) {
  const isAllowed = (from: State, to: State): boolean => moves[from].includes(to)
  return {
    may: isAllowed,
    /** @throws KsError `internal` for a move that is not in the table */
    assert(from: State, to: State): void {
      if (!isAllowed(from, to)) throw new KsError('internal', `a ${subject} cannot move from ${from} to ${to}`)
    },
    /** Whether no move leads out of a state. */
    isTerminal: (state: State): boolean => moves[state].length === 0,
  }
}
