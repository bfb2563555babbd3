// The candidate of a contract, for its owner: what the two decided differently, and for which keys.
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../client/api-client.js';
import type { Endpoints } from '../../client/route-table.js';
import { useEvery } from './clock.js';
import { figures, type ShownContract, some, weir, wordsOf } from './node-client.js';
import { Scrolling } from './scrolling.js';

type Compared = AnswerOf<Endpoints['showCandidate']>;

const SHOWN = 20;
const REFRESH_MS = 2_000;

interface CandidateProps {
  readonly contract: ShownContract;
  readonly isOwn: boolean;
}

export function CandidateRows({ contract, isOwn }: CandidateProps) {
  const [isOpen, setIsOpen] = useState(true);
  return (
    <details open onToggle={(event) => setIsOpen((event.currentTarget as HTMLDetailsElement).open)}>
      <summary>Candidate {limiterWords(contract.candidate?.limiter ?? {})}</summary>
      {isOpen && isOwn ? <Differences contract={contract} /> : null}
    </details>
  );
}

function Differences({ contract: { machine: slug, id: contract_id } }: Pick<CandidateProps, 'contract'>) {
  const [compared, setCompared] = useState<Compared>();
  const [fault, setFault] = useState('');
  useEvery(REFRESH_MS, async () => {
    try {
      const params = { slug, contract_id };
      setCompared(await weir.call('showCandidate', { params, query: { limit: SHOWN } }));
      setFault('');
    } catch (error) {
      setFault(wordsOf(error));
    }
  });
  if (compared === undefined) return fault === '' ? null : <p class="fault">{fault}</p>;
  const { requests, both, only_limiter, only_candidate, by_key, since, keys } = compared;
  return (
    <>
      <dl class="counts">
        <Figure name="Newly refused" value={only_candidate} isBad />
        <Figure name="Newly admitted" value={only_limiter} />
        <Figure name="Limited by both" value={both} />
      </dl>
      <p class="quiet">
        {some(requests, 'request')} since cycle {figures(since)}
        {keys > SHOWN ? ` · ${figures(keys)} keys, those with most differences` : ''}
      </p>
      {by_key.length === 0 ? null : (
        <Scrolling class="scrolls" label="Keys that the candidate would treat differently">
          <table class="keys">
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col" class="number">
                  Newly refused
                </th>
                <th scope="col" class="number">
                  Newly admitted
                </th>
                <th scope="col" class="number wide">
                  Limited by both
                </th>
              </tr>
            </thead>
            <tbody>
              {by_key.map((line) => (
                <tr key={line.key}>
                  <th scope="row">{line.key}</th>
                  <td class="number">{figures(line.only_candidate)}</td>
                  <td class="number">{figures(line.only_limiter)}</td>
                  <td class="number wide">{figures(line.both)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolling>
      )}
    </>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: number;
  readonly isBad?: boolean;
}

function Figure({ name, value, isBad = false }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad && value > 0 ? 'bad' : ''}>
        <b>{figures(value)}</b>
      </dd>
    </div>
  );
}

/** `50 in 60 cycles`, or the rule with its parameters. */
function limiterWords(limiter: object): string {
  const { threshold, within, primitive, params } = limiter as {
    readonly threshold?: number;
    readonly within?: number;
    readonly primitive?: string;
    readonly params?: object;
  };
  if (threshold !== undefined && within !== undefined) return `${figures(threshold)} in ${some(within, 'cycle')}`;
  const given = Object.entries(params ?? {}).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `${primitive ?? ''} ${given.join(', ')}`.trim();
}
