// Reads Kubernetes Jobs, a JSON array, from standard input and writes what their schema (npm's kubernetes-models) has against each:
// an array of texts, empty where there is nothing.       usage: node kubernetes_check.js CACHE <jobs.json >faults.json
const path = require("path");
const { Job } = require(path.join(process.argv[2], "node_modules", "kubernetes-models", "batch", "v1"));
const faults = JSON.parse(require("fs").readFileSync(0, "utf8")).map((job) => {
    try {
        new Job(job).validate();
        return "";
    } catch (error) {
        return error.message;
    }
});
console.log(JSON.stringify(faults));
