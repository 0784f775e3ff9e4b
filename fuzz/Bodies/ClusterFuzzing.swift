private import Cluster

/// Feeds what other nodes and the broker send to its parsers. A trap is a finding.
enum ClusterFuzzing {
    /// What is read is written in a form that reads the same.
    static func readMessage(_ bytes: [UInt8]) {
        if let beat = NodeBeat(bytes) { precondition(NodeBeat(beat.bytes) == beat, "a beat changes when it is written") }
        if let record = RoomRecord(bytes) { precondition(RoomRecord(record.bytes) == record, "a record changes when it is written") }
    }

    static func readAnswer(_ bytes: [UInt8]) {
        _ = NATSReply.entry(bytes)
        if case .success(let revision) = NATSReply.revision(bytes, stream: "KV_b") {
            precondition(revision > 0, "0 means that there is no record")
        }
    }
}
