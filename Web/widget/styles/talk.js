// The talk over the whole screen.

import { css } from './sheet.js'

export const talk = css`
  .talk {
    position: fixed;
    inset: 0;
    display: grid;
    grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr);
    width: 100vw;
    max-width: none;
    height: 100dvh;
    max-height: none;
    margin: 0;
    padding: env(safe-area-inset-top) env(safe-area-inset-right) env(safe-area-inset-bottom) env(safe-area-inset-left);
    overflow: hidden;
    border: none;
    background: var(--patchbay-talk-surface, light-dark(#ffffff, #1d1d21));
    color: var(--text);
    font-size: calc(1em / 0.9375);
  }

  .talk:not([open]) { display: none; }
  .talk::backdrop { background: none; }

  /* Large enough for a thumb. */
  .talk .button, .voice-menu select { min-height: 44px; }
  .talk .button.icon-button { width: 44px; }

  .talk .header { z-index: 1; padding: 12px 16px; }
  .talk .header h2 { font-size: 1em; }
  .talk .header .icon-button { color: var(--text); }

  .talk-body {
    z-index: 1;
    display: flex;
    flex-direction: column;
    gap: 20px;
    width: min(720px, 100%);
    min-height: 0;
    margin-inline: auto;
    padding: 8px 20px;
    overflow: auto;
    scrollbar-width: thin;
  }

  .talk-body > .cards { flex: none; }

  .talk .stage {
    display: flex;
    flex: 1;
    flex-direction: column;
    justify-content: center;
    min-height: 0;
  }

  .talk .caption { width: fit-content; max-width: 100%; max-height: 100%; margin-inline: 0 auto; padding-block: 4px; }
  .talk .caption-speaker { margin-block-end: 12px; font-size: 0.94em; }
  .talk .caption-text, .talk-hint { font-size: clamp(1.6em, 4.6vw, 2.6em); font-weight: 600; letter-spacing: -0.015em; line-height: 1.25; }
  /* What the user said: a bubble at the side, as a pill if it is short. */
  .talk .caption[data-kind='user'] {
    margin-inline: auto 0;
    padding: 12px 22px;
    border-radius: 32px;
    background: var(--user-bubble);
    animation: message 0.35s ease;
  }

  .talk .caption[data-kind='user'] .caption-text { color: var(--user-text); font-size: clamp(1.2em, 2.6vw, 1.5em); font-style: italic; font-weight: 500; }
  .talk .lines li[data-kind='user'] p { font-style: italic; }
  .talk .lines li, .talk .caption[data-kind='assistant'] .caption-text { animation: message 0.35s ease; }

  @keyframes message {
    from { opacity: 0; transform: translateY(8px); }
  }

  .typing-dots { display: flex; gap: 7px; margin-block-start: 20px; }
  .typing-dots span { width: 10px; height: 10px; border-radius: 50%; background: var(--text-quiet); animation: bounce 1.2s ease-in-out infinite; }
  .typing-dots span:nth-child(2) { animation-delay: 0.15s; }
  .typing-dots span:nth-child(3) { animation-delay: 0.3s; }

  @keyframes bounce {
    0%, 60%, 100% { opacity: 0.4; transform: none; }
    30% { opacity: 1; transform: translateY(-6px); }
  }

  /* The colours sweep over each word when it is heard. */
  .talk .word {
    background: linear-gradient(90deg, var(--text) 0 33%, var(--color-1) 45%, var(--color-2) 55%, transparent 67%) 0 0 / 300% 100%;
    background-clip: text;
    -webkit-text-fill-color: transparent;
    transition: none;
  }

  .talk .word[data-heard] { animation: sweep 0.5s ease-out; }
  .talk .caption[data-kind='user'] .word { background: none; -webkit-text-fill-color: currentColor; animation: none; }

  @keyframes sweep {
    from { background-position: 100% 0; }
  }

  @media (forced-colors: active) {
    .talk .word { background: none; -webkit-text-fill-color: currentColor; }
  }

  .talk .caption[data-long] .caption-text { font-size: clamp(1.25em, 2.8vw, 1.7em); font-weight: 550; letter-spacing: -0.005em; line-height: 1.4; }
  .talk[data-has-cards] .caption-text { font-size: clamp(1.2em, 2.4vw, 1.5em); }
  .talk-hint { color: var(--text-quiet); text-align: center; }

  /* What does not fit beside cards is in the transcript; the words that are heard stay in sight. */
  .talk[data-has-cards] .caption { overflow: hidden; }
  .talk .card { border-radius: 24px; animation: message 0.35s ease; }
  .talk .card[data-kind='error'] { border-color: transparent; background: var(--danger-soft); }
  .talk .card[data-kind='error'] .card-body { color: var(--text); }
  .talk .cards { width: min(520px, 100%); margin-inline: auto; }
  .talk .transcript { flex: 1; }
  .talk .lines { width: min(640px, 100%); margin-inline: auto; padding-inline: 4px; }

  .talk .problem { width: min(460px, 100%); margin: auto; overflow: auto; }
  .talk .problem-content { gap: 10px; justify-items: center; text-align: center; }
  .talk .problem .actions { justify-content: center; }
  .talk .problem-icon { width: 56px; height: 56px; margin-block-end: 6px; }
  .talk .problem-icon .icon { width: 28px; height: 28px; }
  .talk .problem h2 { font-size: 1.5em; line-height: 1.3; letter-spacing: -0.01em; }
  .talk .problem .steps { gap: 8px; text-align: start; }
  .talk .problem .points { text-align: start; }
  .talk .logged { padding: 0; }
  .talk .problem .actions { margin-block-start: 16px; }

  .talk-foot {
    z-index: 1;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 16px;
    width: min(640px, 100%);
    margin-inline: auto;
    padding: 12px 20px 28px;
  }

  /* Over the shapes, quiet text would be too faint. */
  .talk .status { color: var(--text); font-size: 1em; }
  .talk .button.round { width: 52px; min-height: 52px; }
  .talk .composer .button.round { width: 44px; min-height: 44px; }
  .talk .button.stop {
    min-width: 168px;
    min-height: 60px;
    border-radius: 30px;
    background: var(--text);
    color: var(--surface);
    font-size: 1em;
  }

  .talk .button.stop:hover:not(:disabled, [aria-disabled]) { background: color-mix(in srgb, var(--text) 88%, var(--surface)); }
  .talk .waveform { height: 24px; }
  .talk .waveform span { transform: scaleY(0.5); animation: waveform 1.2s ease-in-out infinite; }
  .talk .waveform span:nth-child(2) { animation-delay: 0.1s; }
  .talk .waveform span:nth-child(3) { animation-delay: 0.2s; }
  .talk .waveform span:nth-child(4) { animation-delay: 0.3s; }
  .talk .waveform span:nth-child(5) { animation-delay: 0.4s; }

  @keyframes waveform {
    50% { transform: scaleY(1); }
  }

  .talk .controls { gap: 24px; }
  .talk .chip {
    background: color-mix(in srgb, var(--text) 7%, var(--surface));
    animation: chip 0.4s cubic-bezier(0.2, 0, 0, 1) calc(var(--index, 0) * 0.12s) backwards;
  }

  :is(.talk, .idle) .chip .icon { display: block; width: 18px; height: 18px; color: var(--accent); }

  @keyframes chip {
    from { opacity: 0; transform: translateY(12px) scale(0.95); }
  }

  .voice-menu { position: relative; display: flex; align-items: center; gap: 8px; }
  .voice-menu label { color: var(--text-quiet); font-size: 0.875em; }
  .voice-menu select { padding: 4px 12px; border-radius: 22px; background: var(--surface); }

  .voice-menu .hint {
    position: absolute;
    inset-block-start: calc(100% + 6px);
    inset-inline-end: 0;
    color: var(--text-quiet);
    font-size: 0.81em;
    white-space: nowrap;
  }

  /* Soft shapes. The voices make them stronger and faster, and each level a little larger. */
  .ambience {
    position: absolute;
    inset: 0;
    opacity: 0.55;
    scale: 0.9;
    transform-origin: bottom;
    transition: opacity 0.8s ease-in-out, scale 0.8s ease-in-out;
    pointer-events: none;
  }

  .ambience[data-active] { opacity: 1; scale: 1.15; }
  .talk[data-connecting] .ambience { opacity: 0.24; scale: 1; }

  .shape {
    position: absolute;
    width: 78vmax;
    height: 78vmax;
    border-radius: 50%;
    scale: calc(1 + 0.08 * var(--level, 0));
    animation: drift 8s ease-in-out infinite alternate;
  }

  .shape.one { inset-block-end: -48vmax; inset-inline-start: -18vmax; background: radial-gradient(closest-side, var(--blob-1), transparent); }
  .shape.two { inset-block-end: -52vmax; inset-inline-end: -16vmax; background: radial-gradient(closest-side, var(--blob-2), transparent); animation-delay: -3s; }
  .shape.three { inset-block-end: -58vmax; inset-inline-start: 14vmax; background: radial-gradient(closest-side, var(--blob-3), transparent); animation-delay: -5s; }

  @keyframes drift {
    from { transform: translate(-3vmax, 1vmax); }
    to { transform: translate(4vmax, -3vmax); }
  }

  /* Still shapes; words and messages fade without moving. */
  @media (prefers-reduced-motion: reduce) {
    .ambience.ambience.ambience { opacity: 0.15; scale: 1; }

    .talk .word {
      background: none;
      -webkit-text-fill-color: currentColor;
      transition: opacity 0.25s ease-out !important;
    }

    .talk .caption[data-kind='user'], .talk .caption[data-kind='assistant'] .caption-text, .talk .lines li, .talk .card, .talk .chip { animation: fade 0.35s ease backwards !important; }

    @keyframes fade {
      from { opacity: 0; }
    }
  }

  @media (max-width: 480px) {
    .voice-menu label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    /* As wide as the header: in some languages it is long. */
    .talk .header { position: relative; }
    .voice-menu { position: static; }
    .voice-menu .hint { inset-block-start: calc(100% - 6px); inset-inline: 16px; text-align: end; white-space: normal; }
    .talk-foot { padding-block-end: 20px; }
    .talk .controls { gap: 14px; }
    .talk .button.stop { min-width: 144px; }
  }

  @media (max-height: 700px) {
    .talk[data-has-cards] .stage { display: none; }
  }

  @media (max-height: 560px) {
    .talk-foot { gap: 8px; padding-block: 4px 12px; }
    .talk .button.stop { min-height: 48px; }
    .talk .quick { flex-wrap: nowrap; justify-content: safe center; }
    .talk .chip { flex: none; }
  }
`
