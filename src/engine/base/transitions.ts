import { KsError } from '../../contract/errors.js'

/** The permitted moves between states. @param what kind of thing that moves, for messages */
export function defineTransitions<State extends string>(what: string, moves: Record<State, readonly State[]>) {
  const may = (from: State, to: State): boolean => moves[from].includes(to)
  return {
    may,
    /** @throws KsError `internal` for a move that is not in the table */
    assert(from: State, to: State): void {
      if (!may(from, to)) throw new KsError('internal', `a ${what} cannot move from ${from} to ${to}`)
    },
    /** Whether no move leads out of a state. */
    isTerminal: (state: State): boolean => moves[state].length === 0,
  }
}
