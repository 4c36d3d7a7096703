// Says times as the reader's clock does: how long ago, and on pointing, when exactly. A page may stay open for days
// or come back from the browser's cache, so they are said anew while it is looked at.
(() => {
  const steps = [['year', 31557600], ['month', 2629800], ['week', 604800], ['day', 86400], ['hour', 3600], ['minute', 60]];
  const ago = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
  const say = () => {
    for (const time of document.querySelectorAll('time[datetime]')) {
      const at = new Date(time.dateTime);
      const seconds = (Date.now() - at) / 1000;
      const step = steps.find(([, length]) => seconds >= length);
      time.textContent = step ? ago.format(-Math.floor(seconds / step[1]), step[0]) : 'just now';
      time.title = at.toLocaleString();
    }
  };
  say();
  setInterval(say, 60000);
  addEventListener('pageshow', say);
})();
