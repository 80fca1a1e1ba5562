// Reads Kubernetes objects, a JSON array, from standard input and writes what their schema (npm's kubernetes-models) has against
// each: an array of texts, empty where there is nothing.    usage: node kubernetes_check.js CACHE <objects.json >faults.json
const path = require("path");
const models = path.join(process.argv[2], "node_modules", "kubernetes-models");
const faults = JSON.parse(require("fs").readFileSync(0, "utf8")).map((object) => {
    try {
        new (require(path.join(models, ...object.apiVersion.split("/")))[object.kind])(object).validate();
        return "";
    } catch (error) {
        return error.message;
    }
});
console.log(JSON.stringify(faults));
