private import Audio
private import Wire

/// The fuzz targets. Each has a folder in `fuzz/cases` with inputs that once failed.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case frames, requests, events, json, tokens, heads, gates, messages, files, trunks, providers, assistants, proxies
    case configurations, cluster

    /// Feeds the target with arbitrary bytes. It always returns; a trap is a finding.
    package func run(_ bytes: [UInt8]) {
        switch self {
        case .frames: WireFuzzing.readFrames(bytes)
        case .requests: WireFuzzing.readRequest(bytes)
        case .events: WireFuzzing.readServerMessage(bytes)
        case .json: WireFuzzing.readJSON(bytes)
        case .tokens: TokenFuzzing.verify(bytes)
        case .heads: TokenExtractionFuzzing.extract(bytes)
        case .gates: RequestFuzzing.read(bytes)
        case .messages:
            FramerFuzzing.read(bytes)
            FramerFuzzing.write(bytes)
        case .files: AudioFuzzing.read(bytes)
        case .trunks: TrunkFuzzing.carry(bytes)
        case .providers: ProviderFuzzing.read(bytes)
        case .assistants:
            WireFuzzing.readAssistantMessage(bytes)
            WireFuzzing.readChannelRequest(bytes)
        case .proxies:
            ProxyFuzzing.readHeader(bytes)
            ProxyFuzzing.readAddresses(bytes)
        case .configurations:
            ConfigurationFuzzing.readFile(bytes)
            ConfigurationFuzzing.readVariable(bytes)
        case .cluster:
            ClusterFuzzing.readMessage(bytes)
            ClusterFuzzing.readAnswer(bytes)
        }
    }
}
