{{- define "groundplane.name" -}}
{{- if contains "groundplane" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-groundplane" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "groundplane.selector" -}}
app.kubernetes.io/name: groundplane
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "groundplane.labels" -}}
{{ include "groundplane.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "groundplane.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
