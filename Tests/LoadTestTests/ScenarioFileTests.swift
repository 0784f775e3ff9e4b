import Foundation
import Testing

@testable import patchbay_loadtest

struct ScenarioFileTests {
    private func errorMessage(for text: String) -> String {
        do {
            _ = try ScenarioFile.parse(text, from: "x.yaml")
            return ""
        } catch {
            return error.description
        }
    }

    @Test func omittedSettingsHaveDefaults() throws {
        let scenario = try ScenarioFile.parse("calls: 7", from: "x.yaml")
        var expected = Scenario()
        expected.calls = 7
        #expect(scenario == expected)
    }

    @Test func everySettingCanBeSpecified() throws {
        let scenario = try ScenarioFile.parse(
            """
            name: all
            calls: 3
            listeners_per_room: 4
            seconds: 5.5
            warmup_seconds: 0
            joins_per_second: 10
            pattern: conversation
            mean_call_seconds: 2
            total_calls: 9
            barge_in_share: 0.5
            slow_listeners: {share: 0.1, stop_seconds: 1, every_seconds: 4}
            reconnect_storm: {share: 1, every_seconds: 20, within_seconds: 0}
            bits_per_second: 16000
            seed: 42
            """, from: "x.yaml")
        #expect(scenario.listenersPerRoom == 4)
        #expect(scenario.slowListeners == Scenario.SlowListeners(share: 0.1, stopSeconds: 1, everySeconds: 4))
        #expect(scenario.reconnectStorm == Scenario.ReconnectStorm(share: 1, everySeconds: 20, withinSeconds: 0))
        #expect(scenario.problem == nil)
    }

    @Test(arguments: [
        ("cals: 5", "unknown setting cals"),
        ("slow_listeners: {share: 1, evry_seconds: 3}", "slow_listeners: unknown setting evry_seconds"),
        ("slow_listeners: {stop_seconds: 1}", "share is missing"),
        ("calls: many", "calls: "),
        ("pattern: loud", "pattern: "),
        ("calls: [", "x.yaml: "),
    ]) func errorsAreOneLine(text: String, expected: String) {
        let message = errorMessage(for: text)
        #expect(message.hasPrefix("x.yaml: "))
        #expect(message.contains(expected), "\(message)")
        #expect(!message.contains("\n"))
    }

    @Test(arguments: [
        "calls: 0", "seconds: 0", "joins_per_second: 0", "total_calls: 5", "barge_in_share: 0.5",
        "{pattern: conversation, barge_in_share: 2}", "slow_listeners: {share: 2}",
        "slow_listeners: {share: 1, stop_seconds: 5, every_seconds: 5}", "reconnect_storm: {share: -1}",
    ]) func invalidScenariosAreReported(text: String) throws {
        #expect(try ScenarioFile.parse(text, from: "x.yaml").problem != nil)
    }

    @Test func shippedScenariosAreValid() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "loadtest/scenarios")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.count >= 8)
        for file in files {
            let scenario = try ScenarioFile.load(folder.appending(path: file).path)
            #expect(scenario.problem == nil, "\(file)")
            #expect(scenario.name + ".yaml" == file)
        }
    }
}
