// What examples/prometheus/dashboard.json may be, which follows (make dashboard-check): Grafana's own types, with the
// options of the panels that it has, and what Prometheus adds, which is not in the schema.
import type { AnnotationQuery, Dashboard, DataQuery, FieldConfig, FieldConfigSource, GraphFieldConfig, Panel,
  TableFieldOptions } from '@grafana/schema';
import type { Options as Stat } from
  '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type { Options as Table } from
  '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type { Options as TimeSeries } from
  '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

// Json is a type as JSON has it, with the values of enums. Of Some anything may be missing.
type Json<T> = T extends string ? `${T}` : T extends number ? (`${T}` extends `${infer N extends number}` ? N : never)
  : T extends (infer U)[] ? Json<U>[] : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
type Some<T> = T extends (infer U)[] ? Some<U>[] : T extends object ? { [K in keyof T]?: Some<T[K]> } : T;
type Query = DataQuery & { expr: string; interval?: string; legendFormat?: string; format?: 'table' | 'time_series';
  instant?: boolean; range?: boolean };
type Shown<Type, Options, Custom> = Omit<Panel, 'type' | 'options' | 'targets' | 'fieldConfig'> & { type: Type;
  options?: Some<Options>; targets: Query[]; fieldConfig: Omit<FieldConfigSource, 'defaults'> & {
    defaults: Omit<FieldConfig, 'custom'> & { custom?: Some<Custom> } } };
export const board: Json<Omit<Dashboard, 'annotations' | 'panels'> & {
  annotations: { list: (AnnotationQuery<Query> & { useValueForTime?: boolean; titleFormat?: string; textFormat?: string;
    tagKeys?: string })[] };
  panels: (Shown<'stat', Stat, {}> | Shown<'table', Table, TableFieldOptions>
    | Shown<'timeseries', TimeSeries, GraphFieldConfig>)[] }> =
