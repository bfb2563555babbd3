// Chart.js with what the charts of live pages and of the playground are made of.
import {
  Chart,
  Filler,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
} from 'chart.js';

Chart.register(Filler, Legend, LinearScale, LineController, LineElement, LogarithmicScale, PointElement, Tooltip);

export { Chart };
