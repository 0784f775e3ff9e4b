private import Foundation
internal import Simulation

/// Command line options.
struct Options {
    var seeds = 100
    var first: UInt64 = 1
    /// Distance between consecutive seeds of one worker.
    var step: UInt64 = 1
    var jobs = ProcessInfo.processInfo.activeProcessorCount
    /// Worlds of several nodes instead of one.
    var isOfClusters = false
    var isTraced = false
    var isWorker = false

    init?(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let option = rest.popFirst() {
            switch option {
            case "--trace": isTraced = true
            case "--cluster": isOfClusters = true
            case "--worker": isWorker = true
            default:
                guard let value = rest.popFirst().flatMap(UInt64.init) else { return nil }
                switch option {
                case "--seeds" where value >= 1: seeds = Int(value)
                case "--from": first = value
                case "--step" where value >= 1: step = value
                case "--jobs" where value >= 1: jobs = Int(value)
                default: return nil
                }
            }
        }
    }

    func world(_ seed: UInt64) -> any SimulatedWorld { isOfClusters ? ClusterWorld(seed: seed) : World(seed: seed) }

    /// The command that runs a world of this kind again.
    func reproduction(of seed: some CustomStringConvertible) -> String {
        "make simulate\(isOfClusters ? "-cluster" : "") SEEDS=1 FROM=\(seed)"
    }
}
