/// A strict parser of Prometheus's text format 0.0.4: HELP and TYPE precede a metric's samples, and each metric is contiguous.
struct Metrics {
    struct Sample: Hashable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    struct Family {
        var name: String
        var type: String
        var help: String
        var samples: [Sample] = []
    }

    struct Fault: Error, CustomStringConvertible {
        let line: String
        let reason: String
        var description: String { "\(reason): \(line)" }
    }

    private(set) var families: [Family] = []

    init(parsing text: String) throws(Fault) {
        guard text.hasSuffix("\n") else { throw Fault(line: "", reason: "the last line has no end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            if line.hasPrefix("# HELP ") {
                let words = line.dropFirst(7).split(separator: " ", maxSplits: 1)
                guard words.count == 2 else { throw Fault(line: String(line), reason: "HELP without words") }
                guard !families.contains(where: { $0.name == words[0] }) else { throw Fault(line: String(line), reason: "metric twice") }
                families.append(Family(name: String(words[0]), type: "", help: String(words[1])))
            } else if line.hasPrefix("# TYPE ") {
                let words = line.dropFirst(7).split(separator: " ")
                guard words.count == 2, families.last?.name == String(words[0]), families.last?.samples.isEmpty == true else {
                    throw Fault(line: String(line), reason: "TYPE without its HELP before it")
                }
                families[families.count - 1].type = String(words[1])
            } else {
                try add(Self.sample(line))
            }
        }
    }

    private mutating func add(_ sample: Sample) throws(Fault) {
        guard let family = families.last, !family.type.isEmpty else { throw Fault(line: sample.name, reason: "sample without TYPE") }
        let names = family.type == "histogram" ? ["_bucket", "_sum", "_count"].map { family.name + $0 } : [family.name]
        guard names.contains(sample.name) else { throw Fault(line: sample.name, reason: "sample under \(family.name)") }
        families[families.count - 1].samples.append(sample)
    }

    private static func sample(_ line: Substring) throws(Fault) -> Sample {
        func fault(_ reason: String) -> Fault { Fault(line: String(line), reason: reason) }
        let name = line.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
        guard let first = name.first, !first.isNumber else { throw fault("no name") }
        var rest = line.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while rest.first != "}" {
                let label = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
                rest = rest.dropFirst(label.count)
                guard !label.isEmpty, rest.hasPrefix("=\"") else { throw fault("no label") }
                rest = rest.dropFirst(2)
                let value = rest.prefix { $0 != "\"" }
                guard !value.contains("\\") else { throw fault("escapes are not expected here") }
                rest = rest.dropFirst(value.count)
                guard rest.first == "\"", labels.updateValue(String(value), forKey: String(label)) == nil else { throw fault("bad label") }
                rest = rest.dropFirst()
                if rest.first == "," { rest = rest.dropFirst() }
            }
            rest = rest.dropFirst()
        }
        guard rest.first == " ", let value = Double(rest.dropFirst()) else { throw fault("no value") }
        return Sample(name: String(name), labels: labels, value: value)
    }

    /// The sum of all samples of that name with these labels; 0 if there is none.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double {
        families.flatMap(\.samples).lazy
            .filter { sample in sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value } }
            .reduce(0) { $0 + $1.value }
    }

    func value(_ counter: Counter) -> Double { value(counter.name, counter.labels) }
}

/// The name and labels of a sample in `/metrics`.
struct Counter: Sendable, Hashable, CustomStringConvertible {
    var name: String
    var labels: [String: String] = [:]

    var description: String { "\(name)\(labels.isEmpty ? "" : labels.description)" }

    static func joinRefused(_ code: String) -> Counter { Counter(name: "patchbay_joins_refused_total", labels: ["code": code]) }
    static func httpRefused(_ code: String) -> Counter { Counter(name: "patchbay_http_refused_total", labels: ["code": code]) }
    static func requestRefused(_ code: String) -> Counter { Counter(name: "patchbay_requests_refused_total", labels: ["code": code]) }
    static func closed(_ code: UInt16) -> Counter { Counter(name: "patchbay_closed_total", labels: ["code": String(code)]) }
    static func dropped(_ reason: String) -> Counter { Counter(name: "patchbay_frames_dropped_total", labels: ["reason": reason]) }
    static func malformed(_ fault: String) -> Counter { Counter(name: "patchbay_frames_malformed_total", labels: ["fault": fault]) }
    static func resumed(_ outcome: String) -> Counter { Counter(name: "patchbay_resumes_total", labels: ["outcome": outcome]) }
    static let participantsAway = Counter(name: "patchbay_participants_away")
    static let framesReceived = Counter(name: "patchbay_frames_received_total")
    static let controlReceived = Counter(name: "patchbay_control_received_total")
    static let joins = Counter(name: "patchbay_joins_total")
    static let participants = Counter(name: "patchbay_participants")
    static let rooms = Counter(name: "patchbay_rooms")
    static let framesHeld = Counter(name: "patchbay_frames_held")
    static let framesQueued = Counter(name: "patchbay_frames_queued_total")
}
